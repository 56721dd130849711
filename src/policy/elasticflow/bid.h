// What it would cost a job to have more GPUs now: the GPU-seconds of the plan that would result,
// without making it. Spare GPUs are allocated by many such bids, of which few are taken: the
// elastic resource allocation of ElasticFlow (ASPLOS'23), a greedy algorithm by marginal return
// that gives the next size to the job for which it adds the fewest GPU-seconds (or saves most).
//
// A bid reads little of the timeline. It says what it read, so that it can be kept for as long as
// that has not changed. Time: O(sizes x steps of the timeline up to the deadline), as for a plan,
// but nothing is copied. Invariant: the GPU-seconds are those of the plan that
// plan_minimum_share() would make.
#pragma once

#include <vector>

#include "policy/elasticflow/planner.h"

namespace muster {

// The part of time in which a timeline is not what it was.
struct TimeRange {
  Seconds from = 0;
  Seconds to = 0;
};

// Where two timelines that begin together differ, in order.
void find_changes(const GpuTimeline& before, const GpuTimeline& after,
                  std::vector<TimeRange>& changes);

struct Bid {
  double gpu_seconds = 0;
  bool in_time = true;     // the larger share now, and the job is still done by its deadline
  Seconds first_step = 0;  // the larger share lasts until then
  Seconds reads_from = 0;  // what is free before and from `reads_to` on does not matter, except for
  Seconds reads_to = 0;    // where the first step is

  bool survives(const std::vector<TimeRange>& changes) const {
    for (const TimeRange& change : changes) {
      if (change.to > reads_from && change.from < reads_to) return false;
    }
    return true;
  }
};

class Bidder {
 public:
  // The bid for `first` GPUs of a job that has `own` until `own_end`, where `free` is what it and
  // all others leave.
  Bid bid(const PlanFrame& frame, const PlannedJob& job, const GpuTimeline& free,
          const GpuTimeline& own, Seconds own_end, int first);
  // Where the first step of what the others leave lies; kNever if there is none.
  static Seconds first_step(const GpuTimeline& free, const GpuTimeline& own, Seconds own_end);

 private:
  bool walk(const PlanFrame& frame, const PlannedJob& job, Seconds due, int first, Bid& bid) const;
  double spread(const PlanFrame& frame, const PlannedJob& job, Seconds due, double left, int level,
                int below, std::size_t turning) const;

  std::vector<TimeStep> steps_;  // what the others leave, up to the deadline
  JobPlan plan_;
};

}  // namespace muster
