#include "policy/elasticflow/planner.h"

#include <algorithm>
#include <cmath>

namespace muster {

int PlannedJob::fit(int gpus) const {
  int found = 0;
  for (const ThroughputCurve::Point& level : levels) {
    if (level.gpus > cap || level.gpus > gpus) break;
    found = level.gpus;
  }
  return found;
}

int PlannedJob::next(int gpus) const {
  for (const ThroughputCurve::Point& level : levels) {
    if (level.gpus > cap) break;
    if (level.gpus > gpus) return level.gpus;
  }
  return gpus;
}

// Curves have a handful of points: a walk beats a search.
double PlannedJob::speed(int gpus) const {
  for (const ThroughputCurve::Point& level : levels) {
    if (level.gpus == gpus) return level.per_second;
  }
  return 0;
}

void PlanRules::take_first(GpuTimeline& free, Seconds now, int gpus, Seconds until,
                           bool /*whole*/) const {
  const std::size_t end = until == kNever ? free.size() : free.split(until);
  for (std::size_t i = free.lower(now); i < end; ++i) free[i].gpus -= gpus;
}

const PlanRules& exact_rules() {
  static const PlanRules rules;
  return rules;
}

namespace {

// Fills one plan. `free_` is what was free before, `plan_.free` becomes what is free after.
class SharePlanner {
 public:
  SharePlanner(const PlanFrame& frame, const PlannedJob& job, const GpuTimeline& free,
               JobPlan& plan)
      : frame_(frame),
        rules_(*frame.rules),
        job_(job),
        free_(free),
        plan_(plan),
        left_(job.left),
        from_(frame.now),
        due_(frame.due(job.deadline)) {}

  // Sizes from the smallest on: the first that suffices is the minimum satisfactory share. O(sizes
  // x steps).
  void run(int first) {
    plan_.free = free_;
    plan_.gpus = GpuTimeline(frame_.now, 0);
    if (due_ >= frame_.now) before_due_ = plan_.free[plan_.free.split(due_)].gpus;
    if (first > 0 && start_with(first)) return;
    int level = job_.next(0);
    int below = 0;
    while (level > below && level <= frame_.gpus && level <= job_.cap) {
      const std::size_t turning = turning_point(level);
      if (turning != kNone) {
        spread(level, below, turning);
        return;
      }
      below = level;
      // No feasible plan with this size: the next larger one.
      level = job_.next(level);
    }
    run_late(below, first);
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  double done_in(Seconds from, Seconds to, int gpus) const {
    // The last slot counts only up to the deadline itself.
    const Seconds until = to == due_ ? job_.deadline : to;
    return (until - from) * job_.speed(gpus);
  }
  void finish(Seconds end, Seconds exact) {
    plan_.gpus.compact();
    plan_.free.compact();
    plan_.end = end;
    plan_.exact = exact;
    plan_.in_time = exact <= job_.deadline;
  }
  // From `end` on the cluster has what it had there before this job.
  void give_back(Seconds end) {
    const std::size_t at = free_.lower(end);
    if (at < free_.size() && free_[at].at == end) return;
    const bool known = at > 0 && free_[at - 1].at >= from_;
    plan_.free.set(end, known ? free_[at - 1].gpus : frame_.gpus);
  }

  // `first` GPUs until the next step. True if that is the whole plan.
  bool start_with(int first) {
    const std::size_t after = free_.lower(frame_.now) + 1;
    const Seconds until =
        after < free_.size() ? free_[after].at : rules_.first_until(frame_.now, due_);
    const Seconds exact = rules_.end_of(frame_.now + left_ / job_.speed(first));
    const Seconds end = rules_.held_until(align(frame_.now, exact, frame_.slot), exact, until);
    plan_.gpus[0].gpus = first;
    const double work = done_in(frame_.now, until, first);
    const bool whole = until >= end && (job_.deadline >= exact || work >= left_);
    rules_.take_first(plan_.free, frame_.now, first, whole ? end : until, whole);
    if (whole) {
      finish(end, exact);
      return true;
    }
    left_ -= work;
    // The rest of the work is planned from the next step on, as without `first`.
    from_ = until;
    plan_.gpus.set(from_, 0);
    return false;
  }

  // Walks back from the deadline with at most `level` GPUs: the step from which on that suffices.
  std::size_t turning_point(int level) const {
    const GpuTimeline& free = plan_.free;
    double sum = 0;
    Seconds until = due_;
    for (std::size_t i = free.lower(due_); i-- > 0 && free[i].at >= from_;) {
      const int gpus = free[i].gpus >= level ? level : std::min(level, job_.fit(free[i].gpus));
      if (gpus > 0) {
        // Work is summed backwards from the deadline, so reserved GPUs are as late as possible and
        // early ones stay free for jobs with earlier deadlines.
        sum += done_in(free[i].at, until, gpus);
        if (sum >= left_) return i;
      }
      until = free[i].at;
    }
    return kNone;
  }

  int request_in(const TimeStep& step, int level, int below, Seconds turning) const {
    return std::min(step.at >= turning ? level : below, job_.fit(step.gpus));
  }

  // `level` GPUs from the turning point on, the level below before it, until the work is done.
  void spread(int level, int below, std::size_t turning_step) {
    const Seconds turning = plan_.free[turning_step].at;
    const std::size_t end = plan_.free.lower(due_);  // the step at the deadline itself
    // Before the turning point the lowest level has nothing. Two sizes: the next smaller one before
    // the turning point, this one from it on. That takes fewer GPU-seconds than the larger size
    // throughout.
    const std::size_t begin = below > 0 ? plan_.free.lower(from_) : turning_step;
    for (std::size_t i = begin; i < end; ++i) {
      TimeStep& step = plan_.free[i];
      const int gpus = request_in(step, level, below, turning);
      plan_.gpus.go_on(step.at, gpus);
      step.gpus -= gpus;
      if (gpus == 0) continue;
      const double work = done_in(step.at, plan_.free[i + 1].at, gpus);
      if (step.at < turning || work < left_) {
        left_ -= work;
        continue;
      }
      end_in(step.at, gpus, i + 1, end);
      return;
    }
    // Rounding has left a crumb for after the deadline.
    TimeStep& step = plan_.free[end];
    const int gpus = std::max(request_in(step, level, below, turning), job_.next(0));
    plan_.gpus.set(step.at, gpus);
    step.gpus -= gpus;
    end_in(step.at, gpus, end + 1, end);
  }
  void end_in(Seconds at, int gpus, std::size_t rest, std::size_t due) {
    const Seconds seconds = rules_.end_of(left_ / job_.speed(gpus));
    const Seconds next = rest < plan_.free.size() ? plan_.free[rest].at : kNever;
    const Seconds end = rules_.held_until(at + align(0, seconds, frame_.slot), at + seconds, next);
    if (rest < due) plan_.gpus.go_on(plan_.free[rest].at, 0);
    give_back(end);
    finish(end, at + seconds);
  }

  // It will be late: all it can have until the deadline, and after it until it is done.
  void run_late(int level, int first) {
    const std::size_t due = due_ >= frame_.now ? plan_.free.lower(due_) : 0;
    for (std::size_t i = plan_.free.lower(from_); i < due; ++i) {
      TimeStep& step = plan_.free[i];
      const int gpus = std::min(level, job_.fit(step.gpus));
      plan_.gpus.set(step.at, gpus);
      step.gpus -= gpus;
      if (gpus > 0) left_ -= done_in(step.at, plan_.free[i + 1].at, gpus);
    }
    // After the deadline: as fast as possible, which minimises the lateness.
    std::size_t i = plan_.free.lower(std::max(due_, from_));
    for (; i + 1 < plan_.free.size(); ++i) {
      TimeStep& step = plan_.free[i];
      const Seconds until = plan_.free[i + 1].at;
      const int gpus = job_.fit(step.gpus);
      plan_.gpus.set(step.at, gpus);
      if (gpus == 0) continue;
      const double work = (until - step.at) * job_.speed(gpus);
      if (work >= left_) {
        const Seconds exact = rules_.end_of(step.at + left_ / job_.speed(gpus));
        const Seconds end = rules_.held_until(align(frame_.now, exact, frame_.slot), exact, until);
        int before = before_due_;
        for (const TimeStep& old : free_) {
          if (old.at >= due_ && old.at < end) before = old.gpus;
        }
        if (step.at != end) step.gpus = before - gpus;
        if (!free_.has(end)) plan_.free.set(end, before);
        finish(end, exact);
        return;
      }
      left_ -= work;
      step.gpus -= gpus;
    }
    const int gpus = first > 0 ? first : job_.fit(frame_.gpus);
    const Seconds at = plan_.free[i].at;
    plan_.gpus.set(at, gpus);
    const Seconds exact = rules_.end_of(at + left_ / job_.speed(gpus));
    const Seconds end = align(frame_.now, exact, frame_.slot);
    plan_.free.set(at, frame_.gpus - gpus);
    plan_.free.set(end, frame_.gpus);
    finish(end, exact);
  }

  const PlanFrame& frame_;
  const PlanRules& rules_;
  const PlannedJob& job_;
  const GpuTimeline& free_;
  JobPlan& plan_;
  double left_;
  Seconds from_;        // planned up to here
  Seconds due_;         // the end of the deadline's slot
  int before_due_ = 0;  // free when that slot ends
};

}  // namespace

void plan_minimum_share(const PlanFrame& frame, const PlannedJob& job, const GpuTimeline& free,
                        int first, JobPlan& plan) {
  SharePlanner(frame, job, free, plan).run(first);
}

// Adds the plan back step by step. O(steps of the plan x steps of the timeline).
GpuTimeline without(const GpuTimeline& free, const GpuTimeline& gpus, Seconds end) {
  GpuTimeline all = free;
  // The timeline is a sorted list of steps; splitting at both ends makes the range exact.
  all.split(end);
  int before = 0;
  for (const TimeStep& step : gpus) {
    if (step.at >= end) break;
    if (step.gpus == before) continue;
    for (std::size_t i = all.split(step.at); i < all.size() && all[i].at < end; ++i) {
      all[i].gpus += step.gpus - before;
    }
    before = step.gpus;
  }
  all.compact();
  return all;
}

double gpu_seconds(const GpuTimeline& gpus, Seconds end) {
  double sum = 0;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const Seconds until = i + 1 < gpus.size() ? gpus[i + 1].at : end;
    sum += gpus[i].gpus * (until - gpus[i].at);
  }
  return sum;
}

}  // namespace muster
