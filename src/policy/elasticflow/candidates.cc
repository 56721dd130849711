#include "policy/elasticflow/candidates.h"

#include <algorithm>

namespace muster {

// Sizes are those that were measured or, without measurements, powers of two for as long as they
// bring anything: the planner wants a rising curve.
Candidate candidate_of(const View& view, const JobSpec& job, double left) {
  Candidate candidate;
  candidate.id = job.id;
  candidate.left = std::max(left, kLeastWork);
  candidate.deadline = job.deadline == kNever ? kFarDeadline : job.deadline;
  const int ever = view.cluster.ever_for(job.partition, job.gpu_type);
  const auto add = [&](int gpus) {
    if (gpus > ever) return;
    RunContext context;
    context.gpus = gpus;
    candidate.levels.push_back({gpus, view.perf.rate(job, context)});
  };
  if (!job.elastic()) {
    add(job.gpus);
    return candidate;
  }
  // A measured scaling curve; its points are the only sizes at which the speed is known.
  if (const ThroughputCurve* curve = curve_of(view.perf, job)) {
    for (const ThroughputCurve::Point& point : curve->points) {
      if (point.gpus >= job.min_gpus && point.gpus <= std::min(job.max_gpus, curve->cap)) {
        add(point.gpus);
      }
    }
    if (!candidate.levels.empty()) return candidate;
  }
  for (int gpus = std::max(1, job.min_gpus); gpus <= job.max_gpus; gpus *= 2) {
    add(gpus);
    // GPUs that bring nothing are for others.
    const std::size_t count = candidate.levels.size();
    if (count > 1 &&
        candidate.levels[count - 1].per_second <= candidate.levels[count - 2].per_second) {
      candidate.levels.pop_back();
    }
  }
  return candidate;
}

// Earliest deadline first, the order of progressive filling; jobs without a deadline come last.
std::vector<Candidate> candidates_by_deadline(const View& view) {
  std::vector<Candidate> candidates;
  for (const Slot slot : view.jobs.active()) {
    const Job& job = view.jobs[slot];
    Candidate candidate = candidate_of(view, job.spec, job.remaining_at(view.now));
    candidate.slot = slot;
    if (candidate.fits(view.cluster.usable_gpus())) candidates.push_back(std::move(candidate));
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.deadline < b.deadline; });
  return candidates;
}

PlanFrame frame_of(const View& view, Seconds slot) {
  const bool turns = view.turn_length > 0;
  return {view.now, turns ? view.turn_length : slot, view.cluster.usable_gpus(), turns};
}

}  // namespace muster
