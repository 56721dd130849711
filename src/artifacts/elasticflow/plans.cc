#include "artifacts/elasticflow/plans.h"

#include <algorithm>
#include <cmath>

namespace muster::published {
namespace {

class WholeSecondRules final : public PlanRules {
 public:
  Seconds end_of(Seconds exact) const override { return std::ceil(exact); }
  Seconds held_until(Seconds end, Seconds /*exact*/, Seconds /*next*/) const override {
    return end;
  }
  Seconds first_until(Seconds /*now*/, Seconds due) const override { return due; }
  void take_first(GpuTimeline& free, Seconds now, int gpus, Seconds until,
                  bool whole) const override {
    TimeStep& present = free[free.lower(now)];
    const int before = present.gpus;
    present.gpus -= gpus;
    if (whole && !free.has(until)) free.set(until, before);
  }
};

}  // namespace

const PlanRules& whole_second_rules() {
  static const WholeSecondRules rules;
  return rules;
}

// List scheduling forward in time: at each step the largest size that is free, until the work is
// done. Later jobs, those of later deadlines, get what is left.
void plan_greedy(const PlanFrame& frame, const PlannedJob& job, const GpuTimeline& free,
                 JobPlan& plan) {
  const int most = job.fit(frame.gpus);
  plan.free = free;
  plan.gpus = GpuTimeline(frame.now, 0);
  double left = job.left;
  bool in_time = true;
  for (std::size_t i = 0; i + 1 < free.size(); ++i) {
    const Seconds at = free[i].at;
    const Seconds until = free[i + 1].at;
    const int available = plan.free.value_at(at);
    const int gpus = std::min(most, job.fit(available));
    plan.gpus.set(at, gpus);
    if (gpus > 0) {
      const Seconds end = std::ceil(at + left / job.speed(gpus));
      plan.free.set(at, available - gpus);
      if (until >= end) {
        if (!free.has(end)) plan.free.set(align(frame.now, end, frame.slot), available);
        plan.end = end;
        plan.exact = end;
        plan.in_time = in_time && end <= job.deadline;
        plan.gpus.compact();
        plan.free.compact();
        return;
      }
      left -= (until - at) * job.speed(gpus);
    }
    if (until > job.deadline) in_time = false;
  }
  const Seconds at = free[free.size() - 1].at;
  plan.gpus.set(at, most);
  plan.end = std::ceil(at + left / job.speed(most));
  plan.exact = plan.end;
  plan.in_time = in_time && plan.end <= job.deadline;
  plan.free.set(at, frame.gpus - most);
  plan.free.set(align(frame.now, plan.end, frame.slot), frame.gpus);
  plan.gpus.compact();
  plan.free.compact();
}

}  // namespace muster::published
