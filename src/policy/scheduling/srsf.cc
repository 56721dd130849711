#include <algorithm>

#include "policy/shared_params.h"
#include "policy/table.h"

namespace muster {
namespace {

// Shortest remaining service first: remaining time times GPUs, preemptive.
class Srsf final : public KeyPolicy {
 public:
  explicit Srsf(Seconds boost_after) : KeyPolicy(boost_after) {}
  SchedulingTraits traits() const override {
    return {.needs = kNeeds, .preemptive = true, .stable_between_events = !boosts()};
  }
  double key(const Job& job, const View& view) const override {
    return job.remaining_at(view.now) * job.spec.gpus;
  }
  bool keys_rest() const override { return true; }
  std::unique_ptr<SchedulingPolicy> clone() const override { return std::make_unique<Srsf>(*this); }

 private:
  static constexpr Need kNeeds[] = {{Knowledge::kDuration}};
};

// The same as Tiresias has it: equals stay in the order of the turn before.
class SrsfInOrder final : public SchedulingPolicy {
 public:
  SchedulingTraits traits() const override {
    return {.needs = kNeeds, .preemptive = true, .stable_between_events = false};
  }
  void on_job(JobMoment moment, Slot slot, const View&) override {
    if (moment == JobMoment::kAdmitted) list_.push_back(slot);
    if (moment == JobMoment::kLeft) std::erase(list_, slot);
  }
  void schedule(const View& view, Plan& plan) override {
    const auto key = [&view](Slot slot) {
      const Job& job = view.jobs[slot];
      return job.remaining_at(view.now) * job.spec.gpus;
    };
    std::stable_sort(list_.begin(), list_.end(), [&](Slot a, Slot b) { return key(a) < key(b); });
    for (const Slot slot : list_) {
      const JobSpec& spec = view.jobs[slot].spec;
      if (!plan.add(AllocationRequest::alone(slot, spec.gpus, spec.gpu_type))) return;
    }
  }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<SrsfInOrder>(*this);
  }

 private:
  static constexpr Need kNeeds[] = {{Knowledge::kDuration}};
  std::vector<Slot> list_;
};

}  // namespace

PolicyInfo<SchedulingPolicy> srsf_row() {
  return {"srsf",
          "shortest remaining time times GPUs first",
          "Tiresias, 2019",
          {kBoostAfter,
           {"keep_order", ParamKind::kFlag, "false",
            "equals stay in the order of the turn before, as published; nobody is boosted then"}},
          [](const Params& params) -> std::unique_ptr<SchedulingPolicy> {
            if (params.flag("keep_order")) return std::make_unique<SrsfInOrder>();
            return std::make_unique<Srsf>(params.real("boost_after"));
          }};
}

}  // namespace muster
