#include "artifacts/elasticflow/scheduler.h"

#include <algorithm>
#include <cmath>

#include "model/truth.h"

namespace muster::published {

double overhead_of(int gpus, bool restart, bool known_range, int cluster_gpus) {
  constexpr int kLarge = 256;
  const bool large = cluster_gpus >= kLarge;
  const double base = large ? 7 : 2;
  if (known_range) return base;
  const double trainers = restart ? (large ? 47 : 27) : 0;
  return base + trainers + 2 * (std::log2(gpus) + 1);
}

namespace {

// The sizes of a job that was measured are in a table of the performance model: they are written
// out, and then its own.
void checkpoint_job(Archive& archive, Job& job) {
  archive.value(job.slot);
  archive.value(job.submit);
  archive.value(job.duration);
  archive.value(job.request);
  std::vector<ThroughputCurve::Point> levels(job.wants.levels.begin(), job.wants.levels.end());
  archive.list(levels);
  archive.value(job.wants.cap);
  archive.value(job.wants.left);
  archive.value(job.wants.deadline);
  archive.value(job.gpus);
  job.plan.checkpoint(archive);
  archive.value(job.end);
  archive.value(job.old_end);
  archive.value(job.exact_end);
  archive.value(job.overhead);
  archive.value(job.executed);
  archive.value(job.started);
  archive.value(job.known_range);
  if (!archive.reading()) return;
  job.own_levels = std::make_shared<const std::vector<ThroughputCurve::Point>>(std::move(levels));
  job.wants.levels = *job.own_levels;
}

}  // namespace

bool Scheduler::checkpoint_books(Archive& archive) {
  archive.value(now_);
  archive.value(last_);
  archive.value(slot_);
  archive.value(cluster_gpus_);
  archive.value(nodes_);
  archive.value(node_gpus_);
  archive.list(arrivals_);
  archive.each(jobs_, [&archive](Job& job) { checkpoint_job(archive, job); });
  archive.list(arriving_);
  archive.list(completions_);
  archive.list(running_now_);
  archive.value(rounds_);
  archive.value(begun_);
  return true;
}

void Events::checkpoint(Archive& archive) {
  std::vector<Seconds> times;
  std::vector<std::vector<Slot>> jobs;
  for (const auto& [time, ends] : events_) {
    times.push_back(time);
    jobs.push_back(ends);
  }
  archive.list(times);
  archive.lists(jobs);
  if (!archive.reading()) return;
  events_.clear();
  for (std::size_t i = 0; i < times.size() && i < jobs.size(); ++i) events_[times[i]] = jobs[i];
}

void Scheduler::on_job(JobMoment moment, Slot slot, const View& view) {
  if (moment != JobMoment::kAdmitted) return;
  const JobSpec& spec = view.jobs[slot].spec;
  if (jobs_.size() <= index(slot)) jobs_.resize(index(slot) + 1);
  Job& job = jobs_[index(slot)];
  job = {};
  job.slot = slot;
  job.submit = spec.submit;
  job.duration = true_duration(spec);
  job.request = spec.gpus;
  job.wants.deadline = spec.deadline == kNever ? kFarDeadline : spec.deadline;
  if (const ThroughputCurve* curve = curve_of(view.perf, spec)) {
    job.wants.levels = curve->points;
    const double steps = true_iterations(spec);
    job.wants.left = steps > 0 ? steps : job.duration * curve->at(spec.gpus);
    constexpr int kLargest = 64;
    const int batch = spec.batch_size > 0 ? spec.batch_size : kLargest;
    job.wants.cap = cap_ == Cap::kTuned ? curve->cap : std::min({kLargest, batch, curve->widest});
    if (!spec.elastic()) job.wants.cap = spec.gpus;
  } else {
    const int least = spec.elastic() ? std::max(1, spec.min_gpus) : spec.gpus;
    const int most = spec.most_gpus();
    auto levels = std::make_shared<std::vector<ThroughputCurve::Point>>();
    for (int gpus = least; gpus <= most; gpus *= 2) {
      RunContext context;
      context.gpus = gpus;
      levels->push_back({gpus, view.perf.rate(spec, context)});
    }
    job.own_levels = levels;
    job.wants.levels = *levels;
    job.wants.left = job.duration;
    job.wants.cap = most;
  }
  arriving_.push_back(slot);
}

void Scheduler::complete_jobs(const View& view, std::vector<PolicyCompletion>& completions) {
  last_ = begun_ ? now_ : view.now;
  begun_ = true;
  now_ = view.now;
  slot_ = view.turn_length;
  cluster_gpus_ = view.cluster.spec().total_gpus();
  nodes_ = static_cast<int>(view.cluster.node_count());
  node_gpus_ = nodes_ > 0 ? view.cluster.node(NodeId{0}).gpus : 0;
  arrivals_.swap(arriving_);
  arriving_.clear();
  running_now_.clear();
  completions_.clear();
  refuse_odd_sizes();
  round();
  completions = completions_;
}

bool Scheduler::packs(int gpus) const {
  return gpus > 0 && (gpus % node_gpus_ == 0 || node_gpus_ % gpus == 0);
}

// The originals place jobs in their books alone, and end where one does not fit.
void Scheduler::refuse_odd_sizes() {
  const bool resizes = traits().resizes;
  std::erase_if(arrivals_, [&](Slot slot) {
    Job& j = job(slot);
    const bool even = resizes ? std::all_of(j.wants.levels.begin(), j.wants.levels.end(),
                                            [&](const ThroughputCurve::Point& level) {
                                              return level.gpus > j.wants.cap || packs(level.gpus);
                                            })
                              : packs(j.request);
    if (!even) refuse(j, Reason::kFragmented);
    return !even;
  });
}

void Scheduler::schedule(const View&, Plan& plan) {
  // The largest first, for the placement.
  std::stable_sort(running_now_.begin(), running_now_.end(),
                   [](const Given& a, const Given& b) { return a.gpus > b.gpus; });
  for (const Given& given : running_now_)
    plan.add(AllocationRequest::alone(given.slot, given.gpus));
}

void Scheduler::finish(Job& job, Seconds end, Seconds done) {
  completions_.push_back({job.slot, JobState::kFinished, Reason::kCompleted, end, done});
}

void Scheduler::refuse(Job& job) {
  const bool within_a_slot = job.wants.deadline - job.submit < slot_;
  refuse(job, within_a_slot ? Reason::kSlotTooLong : Reason::kDeadlineImpossible);
}

void Scheduler::refuse(Job& job, Reason reason) {
  completions_.push_back({job.slot, JobState::kRefused, reason, now_, now_});
}

bool Scheduler::restart_due() {
  const auto every = static_cast<long long>(slot_);
  const bool due = rounds_ > 0 && every > 0 && rounds_ % every == 0;
  ++rounds_;
  return due;
}

void Events::add_end(const Job& job) {
  std::vector<Slot>& ends = events_[job.end];
  if (std::find(ends.begin(), ends.end(), job.slot) == ends.end()) ends.push_back(job.slot);
}

void Events::move_end(const Job& job) {
  if (job.old_end == job.end) return;
  const auto found = events_.find(job.old_end);
  if (found != events_.end()) {
    std::erase(found->second, job.slot);
    if (found->second.empty()) events_.erase(found);
  }
  add_end(job);
}

void Events::add_moment(Seconds time) { events_[time]; }

std::vector<Slot> Events::take(Seconds now) {
  std::vector<Slot> ends;
  while (!events_.empty() && events_.begin()->first <= now) {
    const std::vector<Slot>& first = events_.begin()->second;
    ends.insert(ends.end(), first.begin(), first.end());
    events_.erase(events_.begin());
  }
  return ends;
}

Seconds Events::next(Seconds now, Seconds slot) const {
  if (events_.empty()) return kNever;
  const Seconds first = events_.begin()->first;
  if (first >= kFarDeadline / 2) return kNever;
  return events_.size() > 1 ? std::max(first, now + slot) : first;
}

}  // namespace muster::published
