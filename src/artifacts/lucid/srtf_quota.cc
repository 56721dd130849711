#include <algorithm>
#include <cmath>

#include "artifacts/lucid/quota_policy.h"
#include "policy/table.h"

namespace muster {
namespace {

// Shortest remaining time first as Lucid's and Helios' simulators have it: looked at every tick,
// equal times favour waiting jobs, and the cost of a preemption is part of the remaining time (the
// restart cost of the run says how much). A job that was given GPUs by count but found no place
// still holds its share of the count, so that some GPUs can idle.
class SrtfQuota final : public QuotaPolicy {
 public:
  SchedulingTraits traits() const override {
    return {.needs = kNeeds, .preemptive = true, .work_conserving = false};
  }
  double rank(const Job& job, const View& view) const override {
    return job.total_work - job.work_at(view.now);
  }
  bool waiting_first() const override { return true; }
  // The order changes by itself when a running job gets ahead of a waiting one. That matters only
  // for those that hold a share of the count without a place.
  Seconds wake(const View& view) const override {
    Seconds next = kNever;
    for (const Slot slot : granted()) {
      const Job& waiting = view.jobs[slot];
      if (!waiting.waiting()) continue;
      for (const Slot other : view.jobs.active()) {
        const Job& running = view.jobs[other];
        if (!running.running()) continue;
        const double ahead = rank(running, view) - rank(waiting, view);
        if (ahead >= 0) next = std::min(next, view.now + std::floor(ahead / running.rate) + 1);
      }
    }
    return next;
  }
  bool checkpoint(Archive& archive) override { return checkpoint_waits(archive); }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<SrtfQuota>(*this);
  }

 private:
  static constexpr Need kNeeds[] = {{Knowledge::kDuration}};
};

}  // namespace

PolicyInfo<SchedulingPolicy> srtf_quota_as_coded_row() {
  return {"srtf-quota-as-coded",
          "shortest remaining time first; GPUs are allocated by count, as in Lucid and Helios",
          "Helios, 2021",
          {},
          [](const Params&) -> std::unique_ptr<SchedulingPolicy> {
            return std::make_unique<SrtfQuota>();
          }};
}

}  // namespace muster
