// A scheduling policy whose plan is a function of the test: for groups, resizing and everything
// else that no simple built-in policy asks for.
#pragma once

#include <functional>
#include <utility>

#include "policy/scheduling.h"
#include "support/simulation.h"

namespace muster {

inline constexpr SchedulingTraits kScriptedTraits = {.preemptive = true,
                                                     .stable_between_events = false};

class ScriptedPolicy final : public SchedulingPolicy {
 public:
  using Script = std::function<void(const View&, Plan&)>;

  // Turns also take place at `wakes`, where they follow events.
  explicit ScriptedPolicy(Script script, std::vector<Seconds> wakes = {},
                          SchedulingTraits traits = kScriptedTraits)
      : script_(std::move(script)), wakes_(std::move(wakes)), traits_(traits) {}

  SchedulingTraits traits() const override { return traits_; }
  void schedule(const View& view, Plan& plan) override { script_(view, plan); }
  Seconds wake(const View& view) const override {
    for (const Seconds wake : wakes_) {
      if (wake > view.now) return wake;
    }
    return kNever;
  }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<ScriptedPolicy>(*this);
  }

 private:
  Script script_;
  std::vector<Seconds> wakes_;
  SchedulingTraits traits_;
};

// For a scenario's `policy_sets`: one set, in which a script decides who runs.
inline std::function<std::vector<PolicySet>()> scripted_set(
    ScriptedPolicy::Script script, std::vector<Seconds> wakes = {},
    SchedulingTraits traits = kScriptedTraits, const Choice& placement = {"consolidated"}) {
  return [script = std::move(script), wakes = std::move(wakes), traits, placement] {
    std::vector<PolicySet> made;
    made.push_back(make_policy_set({"fifo"}, placement));
    made.back().scheduling = std::make_unique<ScriptedPolicy>(script, wakes, traits);
    return made;
  };
}

// The active job with this number; kNoSlot if there is none.
inline Slot slot_of(const View& view, int id) {
  for (const Slot slot : view.jobs.active()) {
    if (index(view.jobs[slot].spec.id) == static_cast<std::size_t>(id)) return slot;
  }
  return kNoSlot;
}

// Adds a share of these jobs (those that are active) on `gpus` GPUs.
inline void add_request(const View& view, Plan& plan, std::initializer_list<int> ids, int gpus) {
  AllocationRequest request;
  request.gpus = gpus;
  for (const int id : ids) {
    if (const Slot slot = slot_of(view, id); slot != kNoSlot) request.join(slot);
  }
  if (request.size > 0) plan.add(request);
}

}  // namespace muster
