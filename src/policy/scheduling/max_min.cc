#include <algorithm>

#include "policy/shared_params.h"
#include "policy/table.h"

namespace muster {
namespace {

// Source: Gavel (OSDI'20), max-min fairness in its performance-agnostic form, which on one GPU type
// is water filling: raise every job's GPUs together, weighted by priority, until a job has all it
// asked for, and pass on what it does not need.
class MaxMin final : public FractionPolicy {
 public:
  explicit MaxMin(Seconds quantum) : quantum_(quantum) {}
  void allocate(const View& view, std::vector<double>& fraction) override {
    claims_.clear();
    double weights = 0;
    for (const Slot slot : view.jobs.active()) {
      const JobSpec& spec = view.jobs[slot].spec;
      const double weight = 1.0 + std::max(0, spec.priority);
      claims_.push_back({spec.gpus / weight, weight, spec.gpus, slot});
      weights += weight;
    }
    // In order of the water level at which each is satisfied.
    std::sort(claims_.begin(), claims_.end(), [](const Claim& a, const Claim& b) {
      return a.level != b.level ? a.level < b.level : a.slot < b.slot;
    });
    double left = view.cluster.usable_gpus();
    for (const Claim& claim : claims_) {
      const double level = std::min(claim.level, left / weights);
      fraction[index(claim.slot)] = std::min(1.0, level * claim.weight / claim.gpus);
      left -= level * claim.weight;
      weights -= claim.weight;
    }
  }
  Seconds wake(const View& view) const override {
    return view.jobs.waiting().empty() ? kNever : view.now + quantum_;
  }
  bool checkpoint(Archive& archive) override { return checkpoint_order(archive); }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<MaxMin>(*this);
  }

 private:
  struct Claim {
    double level;
    double weight;
    int gpus;
    Slot slot;
  };
  Seconds quantum_;
  std::vector<Claim> claims_;
};

}  // namespace

PolicyInfo<SchedulingPolicy> max_min_row() {
  return {"max-min",
          "max-min fair fractions of GPU time by water filling, weighted by priority",
          "Gavel, 2020",
          {kQuantum},
          [](const Params& params) -> std::unique_ptr<SchedulingPolicy> {
            return std::make_unique<MaxMin>(params.real("quantum"));
          }};
}

}  // namespace muster
