#include <algorithm>

#include "policy/builtin.h"

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
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<LeastGpus>(*this);
  }

 private:
  bool strict_;
  bool preempt_;
  std::vector<Slot> order_;
};

}  // namespace

std::unique_ptr<SchedulingPolicy> make_least_gpus(const Params& params) {
  return std::make_unique<LeastGpus>(params.flag("strict"), params.flag("preempt"));
}

}  // namespace muster
