// Active jobs as the planner of ElasticFlow sees them, whatever performance model is in use: sizes
// they can have, how fast they are at each, what is left, when it is due.
#pragma once

#include <vector>

#include "policy/elasticflow/planner.h"
#include "policy/view.h"

namespace muster {

// A job that is as good as done still needs some time.
inline constexpr double kLeastWork = 1e-9;

struct Candidate {
  Slot slot = kNoSlot;  // kNoSlot: not admitted yet
  JobId id = kNoJob;
  std::vector<ThroughputCurve::Point> levels;  // work per second of undisturbed run
  double left = 0;
  Seconds deadline = kFarDeadline;

  PlannedJob planned() const {
    return {levels, levels.empty() ? 0 : levels.back().gpus, left, deadline};
  }
  // Whether any of its sizes fits into the cluster as it is now.
  bool fits(int gpus) const { return !levels.empty() && levels.front().gpus <= gpus; }
};

// Sizes are those that were measured, up to where they pay; else those powers of two within the
// elastic range that are faster than the one before; a job that is not elastic has the one it asked
// for.
Candidate candidate_of(const View& view, const JobSpec& job, double left);

// All active jobs that fit, the earliest deadline first, then in order of arrival.
std::vector<Candidate> candidates_by_deadline(const View& view);

// The frame of a plan made now; `slot` where turns have no length.
PlanFrame frame_of(const View& view, Seconds slot);

}  // namespace muster
