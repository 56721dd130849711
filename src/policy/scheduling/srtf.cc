#include "policy/shared_params.h"
#include "policy/table.h"

namespace muster {
namespace {

// Shortest remaining time first, preemptive. A running job only moves further ahead, so between
// events the choice stays what it is.
class Srtf final : public KeyPolicy {
 public:
  explicit Srtf(Seconds boost_after) : KeyPolicy(boost_after) {}
  SchedulingTraits traits() const override {
    return {
        .needs = kNeeds, .preemptive = true, .stable_between_events = !boosts(), .repeats = true};
  }
  double key(const Job& job, const View& view) const override { return job.remaining_at(view.now); }
  bool keys_rest() const override { return true; }
  bool checkpoint(Archive& archive) override { return checkpoint_order(archive); }
  std::unique_ptr<SchedulingPolicy> clone() const override { return std::make_unique<Srtf>(*this); }

 private:
  static constexpr Need kNeeds[] = {{Knowledge::kDuration}};
};

}  // namespace

PolicyInfo<SchedulingPolicy> srtf_row() {
  return {"srtf",
          "shortest remaining time first",
          "folklore",
          {kBoostAfter},
          [](const Params& params) -> std::unique_ptr<SchedulingPolicy> {
            return std::make_unique<Srtf>(params.real("boost_after"));
          }};
}

}  // namespace muster
