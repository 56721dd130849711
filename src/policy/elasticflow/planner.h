// The minimum satisfactory share of ElasticFlow (Gu et al., ASPLOS'23, in its part on admission
// control): the fewest GPUs, as late as possible, that bring a job to its end by its deadline,
// given what earlier jobs have reserved.
//
// The greedy of the paper: a job's sizes are tried from the smallest on. With at most so many GPUs
// per slot, walk back from the deadline and add up the work of each slot, capped by what is free
// there; the first size whose sum reaches the work that is left is the share, used from that point
// on, and the size below before it. Scaling curves are concave in practice (each further GPU adds
// less), so the smallest share is also the one of the fewest GPU-seconds. O(sizes x steps) with the
// steps of the timeline up to the deadline.
//
// Invariant: a plan never takes more than `free` holds at any time, and `plan.free` is `free` less
// the plan.
//
// Speeds and work are in iterations where a job was measured, in seconds of undisturbed run
// otherwise; the planner does not mind.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "perf/perf_model.h"
#include "policy/elasticflow/timeline.h"

namespace muster {

// A deadline that no plan reaches: of jobs that have none.
inline constexpr Seconds kFarDeadline = 4503599627370496.0;  // 2^52: whole seconds are exact

// What the planner knows of a job.
struct PlannedJob {
  std::span<const ThroughputCurve::Point> levels;  // sizes it can have, ascending
  int cap = 0;                                     // none above this one is used
  double left = 0;                                 // work
  Seconds deadline = kFarDeadline;

  // The largest size that is not above `gpus`; 0 if there is none.
  int fit(int gpus) const;
  // The size after `gpus`, or `gpus` where there is none.
  int next(int gpus) const;
  double speed(int gpus) const;
};

struct JobPlan {
  GpuTimeline gpus;     // what it gets; compact
  GpuTimeline free;     // what is left of the cluster; compact
  Seconds end = 0;      // its GPUs are free again: the end of a slot
  Seconds exact = 0;    // its work is done
  bool in_time = true;  // by the deadline
};

// Where the parts of a plan end, and what its first GPUs take. The planner itself is exact; a
// scheduler whose clock is coarser has rules of its own.
class PlanRules {
 public:
  virtual ~PlanRules() = default;
  // Work that would be done at `exact` counts as done then.
  virtual Seconds end_of(Seconds exact) const { return exact; }
  // Until when GPUs are held whose slot ends at `end`, where the timeline has a step at `next`. Not
  // after that step, if the work is done by then: steps of plans that were made at other times lie
  // off the grid.
  virtual Seconds held_until(Seconds end, Seconds exact, Seconds next) const {
    return next < exact ? end : std::min(end, next);
  }
  // Until when the first GPUs are held where nothing changes any more. A job that is late already
  // runs to its end.
  virtual Seconds first_until(Seconds now, Seconds due) const { return due <= now ? kNever : due; }
  // Takes GPUs from now to `until`; `whole`: they are the whole plan.
  virtual void take_first(GpuTimeline& free, Seconds now, int gpus, Seconds until,
                          bool whole) const;
};
const PlanRules& exact_rules();

// The cluster as the planner sees it.
struct PlanFrame {
  Seconds now = 0;
  Seconds slot = 60;
  int gpus = 0;         // of the whole cluster
  bool on_grid = true;  // all steps lie whole slots from now: turns come at those alone
  const PlanRules* rules = &exact_rules();

  // The end of the deadline's slot.
  Seconds due(Seconds deadline) const { return on_grid ? align(now, deadline, slot) : deadline; }
};

// The minimum satisfactory share against what is free. A job that cannot make it is planned all the
// same, as fast as it goes. With `first` > 0 it gets so many GPUs until the next step of `free`.
void plan_minimum_share(const PlanFrame& frame, const PlannedJob& job, const GpuTimeline& free,
                        int first, JobPlan& plan);

// Takes a job's plan out of the timeline again.
GpuTimeline without(const GpuTimeline& free, const GpuTimeline& gpus, Seconds end);

// GPU-seconds of a plan.
double gpu_seconds(const GpuTimeline& gpus, Seconds end);

}  // namespace muster
