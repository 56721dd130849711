#include "policy/elasticflow/bid.h"

#include <algorithm>
#include <cmath>

namespace muster {
namespace {

// Walks a timeline and a plan together: the sum of both, step by step.
class SumWalk {
 public:
  SumWalk(const GpuTimeline& free, const GpuTimeline& own, Seconds own_end)
      : free_(free),
        own_(own),
        own_end_(own_end),
        at_(free[0].at),
        mine_(own_end > at_ ? own[0].gpus : 0),
        ended_(!(own_end > at_)) {}

  Seconds at() const { return at_; }
  int gpus() const { return free_[i_].gpus + mine_; }
  // To the next moment at which one of them may change; false after the last.
  bool next() {
    const Seconds free_at = i_ + 1 < free_.size() ? free_[i_ + 1].at : kNever;
    const bool goes_on = o_ + 1 < own_.size() && own_[o_ + 1].at < own_end_;
    const Seconds own_at = ended_ ? kNever : goes_on ? own_[o_ + 1].at : own_end_;
    at_ = std::min(free_at, own_at);
    if (at_ == kNever) return false;
    if (free_at == at_) ++i_;
    if (own_at == at_) {
      if (goes_on) {
        mine_ = own_[++o_].gpus;
      } else {
        mine_ = 0;
        ended_ = true;
      }
    }
    return true;
  }

 private:
  const GpuTimeline& free_;
  const GpuTimeline& own_;
  Seconds own_end_;
  Seconds at_;
  int mine_;
  bool ended_;
  std::size_t i_ = 0;
  std::size_t o_ = 0;
};

}  // namespace

// A merge of two step functions. O(steps of both).
void find_changes(const GpuTimeline& before, const GpuTimeline& after,
                  std::vector<TimeRange>& changes) {
  changes.clear();
  std::size_t b = 0;
  std::size_t a = 0;
  Seconds at = before[0].at;
  bool differ = false;
  while (at != kNever) {
    const bool now = before[b].gpus != after[a].gpus;
    if (now && !differ) changes.push_back({at, kNever});
    if (!now && differ) changes.back().to = at;
    differ = now;
    const Seconds next_before = b + 1 < before.size() ? before[b + 1].at : kNever;
    const Seconds next_after = a + 1 < after.size() ? after[a + 1].at : kNever;
    at = std::min(next_before, next_after);
    if (next_before == at && at != kNever) ++b;
    if (next_after == at && at != kNever) ++a;
  }
}

Seconds Bidder::first_step(const GpuTimeline& free, const GpuTimeline& own, Seconds own_end) {
  SumWalk walk(free, own, own_end);
  const int present = walk.gpus();
  while (walk.next()) {
    if (walk.gpus() != present) return walk.at();
  }
  return kNever;
}

Bid Bidder::bid(const PlanFrame& frame, const PlannedJob& job, const GpuTimeline& free,
                const GpuTimeline& own, Seconds own_end, int first) {
  const Seconds due = frame.due(job.deadline);
  Bid bid;
  steps_.clear();
  SumWalk sum(free, own, own_end);
  steps_.push_back({sum.at(), sum.gpus()});
  while (sum.next()) {
    // The first step counts even if it lies after the deadline.
    if (sum.at() >= due && steps_.size() > 1) break;
    if (sum.gpus() != steps_.back().gpus) steps_.push_back({sum.at(), sum.gpus()});
  }
  bid.first_step = steps_.size() > 1 ? steps_[1].at : kNever;
  if (due >= frame.now && walk(frame, job, due, first, bid)) return bid;
  // It will be late, or rounding leaves a crumb: rare enough to make the plan.
  plan_minimum_share(frame, job, without(free, own, own_end), first, plan_);
  bid.gpu_seconds = gpu_seconds(plan_.gpus, plan_.end);
  bid.in_time = plan_.in_time;
  bid.reads_from = frame.now;
  bid.reads_to = kNever;
  return bid;
}

// The steps of plan_minimum_share(), as far as they concern the GPU-seconds. False where they do
// not suffice.
bool Bidder::walk(const PlanFrame& frame, const PlannedJob& job, Seconds due, int first,
                  Bid& bid) const {
  // The larger share is bid for only up to the next step, at which all shares are decided anew.
  const Seconds until = steps_.size() > 1 ? steps_[1].at : due;
  const double speed = job.speed(first);
  const Seconds exact = frame.rules->end_of(frame.now + job.left / speed);
  const Seconds end = frame.rules->held_until(align(frame.now, exact, frame.slot), exact, until);
  const double work = ((until == due ? job.deadline : until) - frame.now) * speed;
  bid.reads_from = kNever;
  bid.reads_to = due;
  if (until >= end && (job.deadline >= exact || work >= job.left)) {
    bid.gpu_seconds = first * (end - frame.now);
    bid.in_time = exact <= job.deadline;
    return true;
  }
  if (until >= due) return false;
  const double left = job.left - work;
  // The smallest size whose work, summed back from the deadline, suffices; `i` is the turning
  // point.
  int below = 0;
  for (int level = job.next(0); level > below && level <= frame.gpus && level <= job.cap;) {
    const double full = job.speed(level);
    double sum = 0;
    Seconds to = job.deadline;
    std::size_t i = steps_.size() - 1;
    for (; i > 0; --i) {
      const TimeStep& step = steps_[i];
      // If fewer than `level` GPUs are free in a step, the job uses the largest of its sizes that
      // fits.
      const int gpus = step.gpus >= level ? level : job.fit(step.gpus);
      if (gpus > 0) {
        sum += (to - step.at) * (gpus == level ? full : job.speed(gpus));
        if (sum >= left) break;
      }
      to = step.at;
    }
    if (i > 0) {
      const double rest = spread(frame, job, due, left, level, below, i);
      bid.gpu_seconds = first * (until - frame.now) + rest;
      // Whether the turning point is a step depends on what is free just before it.
      bid.reads_from = below == 0 && i > 1 ? std::nextafter(steps_[i].at, 0.0) : until;
      return rest >= 0;
    }
    // This size cannot meet the deadline; the next larger one is tried.
    below = level;
    level = job.next(level);
  }
  return false;
}

// GPU-seconds of `level` GPUs from the turning point on and the level below before it; negative if
// a crumb is left at the deadline.
double Bidder::spread(const PlanFrame& frame, const PlannedJob& job, Seconds due, double left,
                      int level, int below, std::size_t turning) const {
  double sum = 0;
  for (std::size_t i = below > 0 ? 1 : turning; i < steps_.size(); ++i) {
    const TimeStep& step = steps_[i];
    const int gpus = std::min(i >= turning ? level : below, job.fit(step.gpus));
    if (gpus == 0) continue;
    const bool last = i + 1 == steps_.size();
    const double speed = job.speed(gpus);
    const double work = ((last ? job.deadline : steps_[i + 1].at) - step.at) * speed;
    // Full steps of the plan; the step in which the work runs out ends it.
    if (i < turning || work < left) {
      left -= work;
      sum += gpus * ((last ? due : steps_[i + 1].at) - step.at);
      continue;
    }
    const Seconds seconds = frame.rules->end_of(left / speed);
    const Seconds end = frame.rules->held_until(step.at + align(0, seconds, frame.slot),
                                                step.at + seconds, last ? due : steps_[i + 1].at);
    return sum + gpus * ((last ? end : steps_[i + 1].at) - step.at);
  }
  return -1;
}

}  // namespace muster
