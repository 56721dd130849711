#include "policy/table.h"

namespace muster {
namespace {

// Source: Tiresias (NSDI'19), lpjf: the job that has waited longest goes first, no job is stopped
// and none overtakes. As no job is stopped, that is the order of arrival.
class LongestPending final : public SchedulingPolicy {
 public:
  SchedulingTraits traits() const override { return {.strict = true, .work_conserving = false}; }
  void schedule(const View& view, Plan& plan) override {
    for (const Slot slot : view.jobs.waiting()) {
      const JobSpec& spec = view.jobs[slot].spec;
      if (!plan.add(AllocationRequest::alone(slot, spec.gpus, spec.gpu_type))) return;
    }
  }
  bool checkpoint(Archive&) override { return true; }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<LongestPending>(*this);
  }
};

}  // namespace

PolicyInfo<SchedulingPolicy> longest_pending_row() {
  return {"longest-pending",
          "longest waiting first, without preemption or overtaking",
          "Tiresias, 2019",
          {},
          [](const Params&) -> std::unique_ptr<SchedulingPolicy> {
            return std::make_unique<LongestPending>();
          }};
}

}  // namespace muster
