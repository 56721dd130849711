#include <limits>

#include "policy/shared_params.h"
#include "policy/table.h"

namespace muster {
namespace {

// Source: Themis (NSDI'20) in the one-shot form that Synergy uses. The job that would finish latest
// relative to running alone goes first: rho = (age + remaining) / duration.
class FinishTimeFairness final : public KeyPolicy {
 public:
  SchedulingTraits traits() const override {
    return {.needs = kNeeds, .preemptive = true, .stable_between_events = false};
  }
  explicit FinishTimeFairness(Seconds quantum) : quantum_(quantum) {}
  double key(const Job& job, const View& view) const override {
    if (job.spec.duration <= 0) return -std::numeric_limits<double>::max();
    const Seconds age = view.now - job.spec.submit;
    return -(age + job.remaining_at(view.now)) / job.spec.duration;
  }
  Seconds wake(const View& view) const override {
    return view.jobs.waiting().empty() ? kNever : view.now + quantum_;
  }
  bool checkpoint(Archive& archive) override { return checkpoint_order(archive); }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<FinishTimeFairness>(*this);
  }

 private:
  static constexpr Need kNeeds[] = {{Knowledge::kDuration}};
  Seconds quantum_;
};

}  // namespace

PolicyInfo<SchedulingPolicy> finish_time_fairness_row() {
  return {"finish-time-fairness",
          "largest finish-time ratio first: the job furthest behind a run on its own",
          "Themis, 2020",
          {kQuantum},
          [](const Params& params) -> std::unique_ptr<SchedulingPolicy> {
            return std::make_unique<FinishTimeFairness>(params.real("quantum"));
          },
          "Themis",
          "the idea alone: an order by finish-time fairness"};
}

}  // namespace muster
