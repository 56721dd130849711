#include <algorithm>

#include "policy/shared_params.h"
#include "policy/table.h"

namespace muster {
namespace {

// Least GPUs first, older jobs first among equals: the order of Lucid's profiling stage
// (ASPLOS'23), in which small jobs pass quickly. With preemption it is Tiresias' `sjf` (NSDI'19),
// whose "shortest" is the smallest.
class LeastGpus final : public SchedulingPolicy {
 public:
  LeastGpus(bool strict, bool preempt) : strict_(strict), preempt_(preempt) {}
  SchedulingTraits traits() const override {
    return {.preemptive = preempt_, .strict = strict_, .work_conserving = !strict_};
  }
  void schedule(const View& view, Plan& plan) override {
    const SlotList& jobs = preempt_ ? view.jobs.active() : view.jobs.waiting();
    order_.assign(jobs.begin(), jobs.end());
    std::stable_sort(order_.begin(), order_.end(), [&view](Slot a, Slot b) {
      return view.jobs[a].spec.gpus < view.jobs[b].spec.gpus;
    });
    for (const Slot slot : order_) {
      const JobSpec& spec = view.jobs[slot].spec;
      if (!plan.add(AllocationRequest::alone(slot, spec.gpus, spec.gpu_type))) return;
    }
  }
  bool checkpoint(Archive&) override { return true; }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<LeastGpus>(*this);
  }

 private:
  bool strict_;
  bool preempt_;
  std::vector<Slot> order_;
};

}  // namespace

PolicyInfo<SchedulingPolicy> least_gpus_row() {
  return {
      "least-gpus",
      "fewest GPUs first: Lucid's profiler, and with preemption Tiresias' sjf",
      "Lucid, 2023",
      {kStrict, {"preempt", ParamKind::kFlag, "false", "let a smaller job preempt larger ones"}},
      [](const Params& params) -> std::unique_ptr<SchedulingPolicy> {
        return std::make_unique<LeastGpus>(params.flag("strict"), params.flag("preempt"));
      }};
}

}  // namespace muster
