#include <algorithm>

#include "policy/shared_params.h"
#include "policy/table.h"

namespace muster {
namespace {

// Every job is entitled to an equal part of the GPUs; one that asks for more than its part runs for
// the corresponding fraction of the time. What small jobs do not need is not passed on: see max-min
// for that.
class Proportional final : public FractionPolicy {
 public:
  explicit Proportional(Seconds quantum) : quantum_(quantum) {}
  void allocate(const View& view, std::vector<double>& fraction) override {
    const auto jobs = static_cast<double>(view.jobs.active().size());
    const double part = view.cluster.usable_gpus() / std::max(1.0, jobs);
    for (const Slot slot : view.jobs.active()) {
      fraction[index(slot)] = std::min(1.0, part / view.jobs[slot].spec.gpus);
    }
  }
  Seconds wake(const View& view) const override {
    return view.jobs.waiting().empty() ? kNever : view.now + quantum_;
  }
  bool checkpoint(Archive& archive) override { return checkpoint_order(archive); }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<Proportional>(*this);
  }

 private:
  Seconds quantum_;
};

}  // namespace

PolicyInfo<SchedulingPolicy> proportional_row() {
  return {"proportional",
          "an equal fraction of GPU time for every job",
          "Gavel, 2020",
          {kQuantum},
          [](const Params& params) -> std::unique_ptr<SchedulingPolicy> {
            return std::make_unique<Proportional>(params.real("quantum"));
          }};
}

}  // namespace muster
