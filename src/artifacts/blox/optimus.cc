// The constant speed-up of Optimus as Blox has it; its order is in waits.cc.
#include "workload/perf/models.h"

namespace muster {
namespace {

// Blox multiplies the progress of its Optimus by a constant that depends on nothing but the arrival
// rate, in jobs per hour.
class ConstantSpeedUp final : public PerfModel {
 public:
  explicit ConstantSpeedUp(double load) : rate_(factor(load)) {}
  double rate(const JobSpec&, const RunContext&) const override { return rate_; }

 private:
  static double factor(double load) {
    constexpr double kByLoad[] = {5, 3, 1.4, 1.2, 1.1};
    return load >= 1 && load < 6 ? kByLoad[static_cast<std::size_t>(load) - 1] : 1.0;
  }
  double rate_;
};

}  // namespace

PerfInfo optimus_speed_as_coded_row() {
  return {"optimus-as-coded",
          "Blox's constant speed-up of Optimus, looked up by jobs per hour",
          "Blox, 2024",
          {{"load", ParamKind::kReal, "6", "jobs per hour", 0}},
          [](const Params& p, Symbols&) -> Result<std::unique_ptr<PerfModel>> {
            return std::unique_ptr<PerfModel>(std::make_unique<ConstantSpeedUp>(p.real("load")));
          }};
}

}  // namespace muster
