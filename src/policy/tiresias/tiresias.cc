#include <algorithm>
#include <cmath>

#include "policy/shared_params.h"
#include "policy/table.h"

namespace muster {
namespace {

// Source: Tiresias (NSDI'19), discretised two-dimensional least attained service. Three queues by
// attained GPU-seconds; a lower queue runs only on what the higher ones leave; within a queue first
// come, first served, so that jobs of one class do not push each other in and out.
class Tiresias final : public KeyPolicy {
 public:
  explicit Tiresias(const Params& params)
      : KeyPolicy(params.real("boost_after")),
        limits_{params.real("limit_1"), std::max(params.real("limit_1"), params.real("limit_2"))} {}
  double key(const Job& job, const View& view) const override {
    // Submissions stay far below this step between queues.
    constexpr double kQueueStep = 1e15;
    return kQueueStep * queue_of(job.gpu_seconds_at(view.now)) + job.spec.submit;
  }
  // The next demotion of a running job, or boost of a waiting one.
  Seconds wake(const View& view) const override {
    if (view.jobs.waiting().empty()) return kNever;
    Seconds next = KeyPolicy::wake(view);
    for (const Slot slot : view.jobs.active()) {
      const Job& job = view.jobs[slot];
      const int queue = queue_of(job.gpu_seconds_at(view.now));
      if (!job.running() || queue == 2) continue;
      const double left = limits_[queue] - job.gpu_seconds_at(view.now);
      // At least a second, so that rounding cannot make the clock stand still.
      next = std::min(next, view.now + std::max(1.0, std::ceil(left / job.gpus.gpus())));
    }
    return next;
  }
  bool keys_rest() const override { return true; }
  bool checkpoint(Archive& archive) override { return checkpoint_order(archive); }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<Tiresias>(*this);
  }

 private:
  int queue_of(double service) const {
    return service < limits_[0] ? 0 : service < limits_[1] ? 1 : 2;
  }

  double limits_[2];
};

}  // namespace

PolicyInfo<SchedulingPolicy> tiresias_row() {
  return {"tiresias",
          "three queues by attained GPU-seconds, first come, first served in each",
          "Tiresias, 2019",
          {{"limit_1", ParamKind::kReal, "3250",
            "GPU-seconds after which a job leaves the first queue", 0},
           {"limit_2", ParamKind::kReal, "7200",
            "GPU-seconds after which it leaves the second queue", 0},
           kBoostAfter},
          [](const Params& params) -> std::unique_ptr<SchedulingPolicy> {
            return std::make_unique<Tiresias>(params);
          },
          "Tiresias",
          "the paper: three queues, first come first served in each"};
}

}  // namespace muster
