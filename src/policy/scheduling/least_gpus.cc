#include <algorithm>

#include "policy/builtin.h"

namespace muster {
namespace {

// Least GPUs first, without preemption, older jobs first among equals: the order of Lucid's
// profiling stage (ASPLOS'23), in which small jobs pass quickly.
class LeastGpus final : public SchedulingPolicy {
 public:
  explicit LeastGpus(bool strict) : strict_(strict) {}
  SchedulingTraits traits() const override {
    return {.strict = strict_, .work_conserving = !strict_};
  }
  void schedule(const View& view, Plan& plan) override {
    order_.assign(view.jobs.waiting().begin(), view.jobs.waiting().end());
    std::stable_sort(order_.begin(), order_.end(), [&view](Slot a, Slot b) {
      return view.jobs[a].spec.gpus < view.jobs[b].spec.gpus;
    });
    for (const Slot slot : order_) {
      const JobSpec& spec = view.jobs[slot].spec;
      if (!plan.add(Share::alone(slot, spec.gpus, spec.gpu_type))) return;
    }
  }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<LeastGpus>(*this);
  }

 private:
  bool strict_;
  std::vector<Slot> order_;
};

}  // namespace

std::unique_ptr<SchedulingPolicy> make_least_gpus(const Params& params) {
  return std::make_unique<LeastGpus>(params.flag("strict"));
}

}  // namespace muster
