#include "policy/shared_params.h"
#include "policy/table.h"

namespace muster {
namespace {

// Shortest remaining service first: remaining time times GPUs, preemptive.
class Srsf final : public KeyPolicy {
 public:
  explicit Srsf(Seconds boost_after) : KeyPolicy(boost_after) {}
  SchedulingTraits traits() const override {
    return {
        .needs = kNeeds, .preemptive = true, .stable_between_events = !boosts(), .repeats = true};
  }
  double key(const Job& job, const View& view) const override {
    return job.remaining_at(view.now) * job.spec.gpus;
  }
  bool keys_rest() const override { return true; }
  bool checkpoint(Archive& archive) override { return checkpoint_order(archive); }
  std::unique_ptr<SchedulingPolicy> clone() const override { return std::make_unique<Srsf>(*this); }

 private:
  static constexpr Need kNeeds[] = {{Knowledge::kDuration}};
};

}  // namespace

PolicyInfo<SchedulingPolicy> srsf_row() {
  return {"srsf",
          "shortest remaining time times GPUs first",
          "Tiresias, 2019",
          {kBoostAfter},
          [](const Params& params) -> std::unique_ptr<SchedulingPolicy> {
            return std::make_unique<Srsf>(params.real("boost_after"));
          }};
}

}  // namespace muster
