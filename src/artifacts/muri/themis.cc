// Themis as Muri's simulator has it.
#include "policy/themis/themis.h"

#include <cmath>

#include "artifacts/variant.h"

namespace muster {
namespace {

// The time alone is counted in steps instead of seconds, so that jobs of long steps count less, and
// an equal part of the cluster is rounded up to whole GPUs.
class ThemisInSteps final : public Themis {
 public:
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<ThemisInSteps>(*this);
  }

 protected:
  double unit_of_time_alone(const View& view, const Job& job) const override {
    const double steps = steps_of(view.perf, job.spec);
    return steps > 0 ? job.total_work / steps : 1;
  }
  double equal_part(int gpus, double jobs) const override { return std::ceil(gpus / jobs); }
};

}  // namespace

PolicyInfo<SchedulingPolicy> themis_in_steps_row() {
  return variant_of<SchedulingPolicy>(
      scheduling_table(), "themis", "themis-in-steps-as-coded",
      "as themis, with the time alone in steps and equal parts in whole GPUs",
      [](const Params&) -> std::unique_ptr<SchedulingPolicy> {
        return std::make_unique<ThemisInSteps>();
      });
}

}  // namespace muster
