#include "policy/shared_params.h"
#include "policy/table.h"

namespace muster {
namespace {

// Source: Tiresias (NSDI'19), lpjf: who has waited longest goes first, nobody is stopped and nobody
// overtakes. Its simulator never updates the waiting times, so that the order is that of arrival,
// and walks a list from which it removes what it starts, so that every start skips the next job
// until the next event: `skips`.
class LongestPending final : public SchedulingPolicy {
 public:
  explicit LongestPending(bool skips) : skips_(skips) {}
  SchedulingTraits traits() const override { return {.strict = true, .work_conserving = false}; }
  void schedule(const View& view, Plan& plan) override {
    bool skip = false;
    for (const Slot slot : view.jobs.waiting()) {
      const JobSpec& spec = view.jobs[slot].spec;
      if (!skip && !plan.add(AllocationRequest::alone(slot, spec.gpus, spec.gpu_type))) return;
      skip = skips_ && !skip;
    }
  }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<LongestPending>(*this);
  }

 private:
  bool skips_;
};

}  // namespace

PolicyInfo<SchedulingPolicy> longest_pending_row() {
  return {"longest-pending",
          "longest waiting first, without preemption or overtaking",
          "Tiresias, 2019",
          {},
          [](const Params& params) -> std::unique_ptr<SchedulingPolicy> {
            return std::make_unique<LongestPending>(quirk(params, "skips"));
          }};
}

}  // namespace muster
