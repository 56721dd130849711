#include "policy/table.h"

namespace muster {
namespace {

// Source: Blox (EuroSys'24). Jobs wait outside, in order of arrival, while the GPUs asked for by
// admitted jobs exceed `threshold` times the cluster. The test is made before a job is added, so
// the last one in may overshoot; that is how the system defines it.
class LoadThreshold final : public AdmissionPolicy {
 public:
  explicit LoadThreshold(double threshold) : threshold_(threshold) {}
  AdmissionAnswer admit(const View& view, const Load& load, const JobSpec&) override {
    const double limit = threshold_ * view.cluster.usable_gpus();
    if (static_cast<double>(load.demanded_gpus) <= limit) return {};
    return {Admission::kHold, Reason::kLoadLimit};
  }
  bool checkpoint(Archive&) override { return true; }
  std::unique_ptr<AdmissionPolicy> clone() const override {
    return std::make_unique<LoadThreshold>(*this);
  }

 private:
  double threshold_;
};

}  // namespace

PolicyInfo<AdmissionPolicy> load_threshold_row() {
  return {
      "load-threshold",
      "holds jobs while the admitted ones ask for more than a multiple of the cluster",
      "Blox, 2024",
      {{"threshold", ParamKind::kReal, "1.2", "requested GPUs, as a multiple of the cluster's", 0}},
      [](const Params& params) -> std::unique_ptr<AdmissionPolicy> {
        return std::make_unique<LoadThreshold>(params.real("threshold"));
      }};
}

}  // namespace muster
