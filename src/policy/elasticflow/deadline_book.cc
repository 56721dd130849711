#include "policy/elasticflow/deadline_book.h"

#include <algorithm>
#include <cmath>

namespace muster {
namespace {

// What is left of an entry at `now`, if it follows its plan.
double left_at(const DeadlineBook::Entry& entry, Seconds now) {
  const PlannedJob job = entry.job.planned();
  double left = job.left;
  for (std::size_t i = 0; i < entry.gpus.size(); ++i) {
    const Seconds from = entry.gpus[i].at;
    const Seconds to = i + 1 < entry.gpus.size() ? entry.gpus[i + 1].at : entry.end;
    if (from >= now) break;
    // Integral of the planned speed over the part of the plan that lies in the past.
    left -= (std::min(to, now) - from) * job.speed(entry.gpus[i].gpus);
  }
  return std::max(kLeastWork, left);
}

// The fewest GPU-seconds that a unit of its work takes: with a concave scaling curve, those of its
// smallest size.
double least_cost(const Candidate& job) {
  double least = kNever;
  for (const ThroughputCurve::Point& level : job.levels) {
    least = std::min(least, level.gpus / level.per_second);
  }
  return least;
}

}  // namespace

// Time passes: what lies before now is cut off every plan. If the cluster has another size, all are
// planned anew in the order of their deadlines, and a job that it no longer serves in time loses
// its promise. O(entries) steps of timelines.
void DeadlineBook::advance(const PlanFrame& frame) {
  if (entries_.empty()) free_ = GpuTimeline(frame.now, frame.gpus);
  const bool resized = gpus_ != frame.gpus;
  gpus_ = frame.gpus;
  if (free_[0].at == frame.now && !resized) return;
  ++version_;
  for (auto& [key, entry] : entries_) {
    entry.job.left = left_at(entry, frame.now);
    if (entry.end <= frame.now) {
      entry.gpus = GpuTimeline(frame.now, 0);
      entry.end = frame.now;
    } else {
      entry.gpus.begin_at(frame.now);
    }
  }
  free_.begin_at(frame.now);
  if (!resized) return;
  free_ = GpuTimeline(frame.now, frame.gpus);
  for (auto it = entries_.begin(); it != entries_.end();) {
    Entry& entry = it->second;
    if (entry.job.fits(frame.gpus)) {
      plan_minimum_share(frame, entry.job.planned(), free_, 0, scratch_);
      if (scratch_.in_time) {
        exchange(it->first, scratch_.gpus, scratch_.end);
        leave(scratch_.free);
        ++it;
        continue;
      }
    }
    it = entries_.erase(it);
  }
}

void DeadlineBook::checkpoint(Archive& archive) {
  std::vector<Entry> entries;
  for (const auto& [key, entry] : entries_) entries.push_back(entry);
  archive.each(entries, [&archive](Entry& entry) {
    archive.value(entry.job.slot);
    archive.value(entry.job.id);
    archive.list(entry.job.levels);
    archive.value(entry.job.left);
    archive.value(entry.job.deadline);
    entry.gpus.checkpoint(archive);
    archive.value(entry.end);
  });
  free_.checkpoint(archive);
  archive.value(gpus_);
  archive.value(version_);
  if (!archive.reading()) return;
  entries_.clear();
  for (Entry& entry : entries) entries_.emplace(key_of(entry.job), std::move(entry));
}

void DeadlineBook::remove(const Key& key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  ++version_;
  // Invariant: `free_` is the cluster less the plans of all entries.
  free_ = without(free_, found->second.gpus, found->second.end);
  entries_.erase(found);
}

void DeadlineBook::exchange(const Key& key, GpuTimeline& gpus, Seconds end) {
  ++version_;
  Entry& entry = entries_.at(key);
  std::swap(entry.gpus, gpus);
  entry.end = end;
}

void DeadlineBook::leave(GpuTimeline& free) {
  ++version_;
  std::swap(free_, free);
}

// First a new plan for this job alone, in what the others leave; only if that fails, new plans for
// all jobs.
bool DeadlineBook::correct(const PlanFrame& frame, const Key& key, double left) {
  Entry& entry = entries_.at(key);
  ++version_;
  entry.job.left = std::max(kLeastWork, left);
  plan_minimum_share(frame, entry.job.planned(), without(free_, entry.gpus, entry.end), 0,
                     scratch_);
  if (scratch_.in_time) {
    exchange(key, scratch_.gpus, scratch_.end);
    leave(scratch_.free);
    return true;
  }
  const Candidate job = entry.job;
  remove(key);
  BookTrial trial(*this, frame);
  if (!trial.add(job)) return false;
  trial.commit(*this);
  return true;
}

BookTrial::BookTrial(const DeadlineBook& book, const PlanFrame& frame)
    : book_(&book),
      version_(book.version()),
      frame_(frame),
      free_(book.free()),
      resized_(!book.empty() && book.gpus_ != frame.gpus) {
  if (book.empty()) {
    free_ = GpuTimeline(frame.now, frame.gpus);
  } else {
    free_.begin_at(frame.now);
  }
}

bool BookTrial::add(const Candidate& job, bool anew) {
  if (!job.fits(frame_.gpus) || job.deadline <= frame_.now) return false;
  if (resized_) return anew && replan(job);
  // Incremental admission test: if the newcomer fits beside all existing plans, none of them needs
  // to change.
  DeadlineBook::Entry entry;
  entry.job = job;
  plan_minimum_share(frame_, entry.job.planned(), free_, 0, scratch_);
  if (!scratch_.in_time) return anew && replan(job);
  std::swap(free_, scratch_.free);
  std::swap(entry.gpus, scratch_.gpus);
  entry.end = scratch_.end;
  newcomers_.emplace(DeadlineBook::key_of(job), std::move(entry));
  return true;
}

// No plan can do it: more GPU-seconds are due by some time than there are. The processor demand
// criterion for earliest-deadline-first (Baruah, Rosier and Howell, 1990), with the cheapest size
// of each job: necessary, not sufficient, and O(jobs) where a plan costs much more.
bool BookTrial::hopeless(const std::vector<Planned>& all, const Candidate& job) const {
  double due = 0;
  for (const Planned& planned : all) {
    due += planned.left * least_cost(*planned.job);
    // Deadlines before the newcomer's were feasible without it and stay so, as it is planned after
    // them.
    if (planned.job->deadline < job.deadline) continue;
    const double there_are = frame_.gpus * (planned.job->deadline - frame_.now);
    if (due > there_are * (1 + 1e-9)) return true;
  }
  return false;
}

// Progressive filling: all jobs are planned again, the earliest deadline first, each its minimum
// satisfactory share of what is left. Nothing is changed unless all are in time. O(jobs x sizes x
// steps).
bool BookTrial::replan(const Candidate& job) {
  std::vector<Planned> all;
  all.reserve(book_->entries().size() + newcomers_.size() + 1);
  for (const auto& [key, entry] : book_->entries()) {
    all.push_back({&entry.job, left_at(entry, frame_.now), {}, 0});
  }
  const auto sorted = static_cast<std::ptrdiff_t>(all.size());
  for (const auto& [key, entry] : newcomers_) {
    all.push_back({&entry.job, entry.job.left, {}, 0});
  }
  all.push_back({&job, job.left, {}, 0});
  const auto before = [](const Planned& a, const Planned& b) {
    return DeadlineBook::key_of(*a.job) < DeadlineBook::key_of(*b.job);
  };
  std::sort(all.begin() + sorted, all.end(), before);
  std::inplace_merge(all.begin(), all.begin() + sorted, all.end(), before);
  // The cheap necessary condition first; it spares most of the refused jobs the full replanning.
  if (hopeless(all, job)) return false;
  GpuTimeline free(frame_.now, frame_.gpus);
  for (Planned& planned : all) {
    PlannedJob wants = planned.job->planned();
    wants.left = planned.left;
    plan_minimum_share(frame_, wants, free, 0, scratch_);
    // One miss suffices to refuse the newcomer: existing promises must all be kept.
    if (!scratch_.in_time) return false;
    std::swap(free, scratch_.free);
    std::swap(planned.gpus, scratch_.gpus);
    planned.end = scratch_.end;
  }
  std::swap(free_, free);
  resized_ = false;
  others_.clear();
  for (Planned& planned : all) {
    const DeadlineBook::Key key = DeadlineBook::key_of(*planned.job);
    if (planned.job == &job) {
      newcomers_[key] = {job, std::move(planned.gpus), planned.end};
    } else if (const auto found = newcomers_.find(key); found != newcomers_.end()) {
      found->second.gpus = std::move(planned.gpus);
      found->second.end = planned.end;
    } else {
      others_.push_back(std::move(planned));
    }
  }
  return true;
}

// Plans were made against the book as it was: of() must still hold.
void BookTrial::commit(DeadlineBook& book) {
  for (Planned& planned : others_) {
    DeadlineBook::Entry& entry = book.entries_.at(DeadlineBook::key_of(*planned.job));
    entry.gpus = std::move(planned.gpus);
    entry.end = planned.end;
  }
  others_.clear();
  book.entries_.merge(newcomers_);
  book.free_ = std::move(free_);
  ++book.version_;
}

}  // namespace muster
