#include "policy/shared_params.h"
#include "policy/table.h"

namespace muster {
namespace {

// Earliest deadline first, every job at the size it asked for; those without deadline come last.
class Edf final : public KeyPolicy {
 public:
  using KeyPolicy::KeyPolicy;
  SchedulingTraits traits() const override {
    SchedulingTraits traits = KeyPolicy::traits();
    traits.needs = kNeeds;
    return traits;
  }
  double key(const Job& job, const View&) const override { return job.spec.deadline; }
  bool keys_rest() const override { return true; }
  bool checkpoint(Archive& archive) override { return checkpoint_order(archive); }
  std::unique_ptr<SchedulingPolicy> clone() const override { return std::make_unique<Edf>(*this); }

 private:
  static constexpr Need kNeeds[] = {
      {Knowledge::kDeadline, "the oldest job goes first: it is fifo with preemption"}};
};

}  // namespace

PolicyInfo<SchedulingPolicy> edf_row() {
  return {"edf",
          "earliest deadline first, at the requested size; jobs without deadline come last",
          "folklore",
          {kBoostAfter},
          [](const Params& params) -> std::unique_ptr<SchedulingPolicy> {
            return std::make_unique<Edf>(params.real("boost_after"));
          }};
}

}  // namespace muster
