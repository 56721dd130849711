// The policies of Tiresias' simulator, with what it does beyond what they are meant to.
#include <algorithm>

#include "artifacts/variant.h"

namespace muster {
namespace {

// Shortest remaining service first; equals stay in the order of the turn before.
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

PolicyInfo<SchedulingPolicy> scheduling_variant(std::string_view general, std::string_view name,
                                                std::string_view sentence, const ParamInfo& quirk) {
  return variant_of(scheduling_table(), general, name, sentence, quirk);
}

}  // namespace

std::vector<PolicyInfo<SchedulingPolicy>> tiresias_scheduling_rows() {
  return {
      {"srsf-as-coded",
       "shortest remaining time times GPUs first; equals stay in the order of the turn before",
       "Tiresias, 2019",
       {},
       [](const Params&) -> std::unique_ptr<SchedulingPolicy> {
         return std::make_unique<SrsfInOrder>();
       }},
      scheduling_variant(
          "dlas-gpu", "dlas-gpu-as-coded",
          "as dlas-gpu, and the next demotion is reckoned too early or too late",
          {"loose_wake", ParamKind::kFlag, "true",
           "predict the next demotion as published: after (limit - seconds served) / GPUs"}),
      scheduling_variant("multi-dlas-gpu", "multi-dlas-gpu-as-coded",
                         "as multi-dlas-gpu, and nothing is handed out before the first division",
                         {"periodic_only", ParamKind::kFlag, "true",
                          "divide only every so often, not when a job comes or goes"}),
      scheduling_variant(
          "shortest-expected", "shortest-expected-as-coded",
          "as shortest-expected, with the defects of the original",
          {"as_published", ParamKind::kFlag, "true", "reproduce the defects of the original"}),
      scheduling_variant("longest-pending", "longest-pending-as-coded",
                         "as longest-pending, and every start passes over the next in line",
                         {"skips", ParamKind::kFlag, "true",
                          "every start passes over the next in line until the next turn"}),
  };
}

PolicyInfo<PlacementPolicy> yarn_as_coded_row() {
  return variant_of(
      placement_table(), "yarn", "yarn-as-coded",
      "as yarn, and memory is counted and never given back while jobs run",
      {"leaks", ParamKind::kFlag, "true",
       "count memory and do not release it while jobs run, as Tiresias' simulator does"});
}

}  // namespace muster
