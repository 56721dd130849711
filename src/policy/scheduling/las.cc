#include "policy/shared_params.h"
#include "policy/table.h"

namespace muster {
namespace {

// Least attained service first: the job that has used the cluster least goes next, so short jobs
// pass through quickly although their durations are unknown.
class Las final : public KeyPolicy {
 public:
  explicit Las(const Params& params)
      : KeyPolicy(params.real("boost_after")),
        count_gpus_(params.text("service") == "gpu-seconds"),
        quantum_(params.real("quantum")) {}
  double key(const Job& job, const View& view) const override {
    return count_gpus_ ? job.gpu_seconds_at(view.now) : job.attained_at(view.now);
  }
  Seconds wake(const View& view) const override {
    if (view.jobs.waiting().empty()) return kNever;
    return std::min(view.now + quantum_, KeyPolicy::wake(view));
  }
  bool keys_rest() const override { return true; }
  bool checkpoint(Archive& archive) override { return checkpoint_order(archive); }
  std::unique_ptr<SchedulingPolicy> clone() const override { return std::make_unique<Las>(*this); }

 private:
  bool count_gpus_;
  Seconds quantum_;
};

}  // namespace

PolicyInfo<SchedulingPolicy> las_row() {
  return {"las",
          "least attained service first",
          "Tiresias, 2019",
          {kService, kBoostAfter, kQuantum},
          [](const Params& params) -> std::unique_ptr<SchedulingPolicy> {
            return std::make_unique<Las>(params);
          },
          "Tiresias",
          "the idea alone: least attained service, without queues"};
}

}  // namespace muster
