#include "backend/sim/life_backend.h"

#include <algorithm>
#include <cmath>

#include "model/checkpoint.h"
#include "model/truth.h"

namespace muster {

LifeBackend::LifeBackend(SimParts parts, const LifeOptions& life)
    : perf_(parts.perf), life_(life), inner_(std::make_unique<SimBackend>(std::move(parts))) {}

LifeBackend::LifeBackend(const LifeBackend& other)
    : perf_(other.perf_),
      life_(other.life_),
      inner_(other.inner_->copy()),
      runs_(other.runs_),
      queued_(other.queued_),
      stopping_(other.stopping_),
      woken_(other.woken_),
      unheard_(other.unheard_),
      timers_(other.timers_),
      reports_(other.reports_),
      reported_(other.reported_),
      now_(other.now_) {}

JobProgress LifeBackend::expected(const Command& command, Seconds now) const {
  JobProgress progress;
  progress.work = progress.saved_work = command.job->work_at(now);
  progress.rate = perf_->rate(command.job->spec, command.context);
  progress.since = kNever;
  return progress;
}

JobProgress LifeBackend::act(const Command& command, Seconds now) {
  switch (command.kind) {
    case CommandKind::kStop:
      return stop(command, now);
    case CommandKind::kUpdateRate:
      return go_on(command, now);
    case CommandKind::kAdopt: {
      Run& run = runs_[command.run];
      run.slot = command.slot;
      run.gpus = *command.gpus;
      run.phase = Phase::kRunning;
      run.progresses = true;
      return inner_->act(command, now);
    }
    default:
      break;
  }
  JobProgress progress = expected(command, now);
  if (command.kind == CommandKind::kStart) return progress;
  // A job that moves works no more where it was, and takes along what it has done there.
  Command halt = command;
  halt.kind = CommandKind::kStop;
  const auto before = runs_.find({command.run.job, command.run.launch - 1});
  if (before == runs_.end()) {
    if (!command.job->starting()) inner_->act(halt, now);
    return progress;
  }
  Run& run = before->second;
  run.kept = inner_->saved_by(*command.job, now);
  if (!command.job->starting()) {
    run.finishes = finishes_within(before->first, halt, now);
    inner_->act(halt, now);
  } else if (run.phase == Phase::kRunning) {
    run.finishes = stop_unheard(before->first, run, halt, now, progress);
  }
  run.saved = progress.work;
  return progress;
}

bool LifeBackend::finishes_within(RunId id, const Command& command, Seconds now) const {
  return inner_->end_of(command.slot) <= now + fate_of(id, life_).stop;
}

JobProgress LifeBackend::stop(const Command& command, Seconds now) {
  const auto found = runs_.find(command.run);
  JobProgress progress;
  progress.work = progress.saved_work = command.job->work;
  progress.since = kNever;
  // It was never dispatched, or its work is done and the word of it is on its way.
  if (found == runs_.end()) {
    progress.work = progress.saved_work = command.job->work_at(now);
    return progress;
  }
  Run& run = found->second;
  run.kept = inner_->saved_by(*command.job, now);
  if (run.phase == Phase::kRunning && run.progresses) {
    run.finishes = command.graceful && finishes_within(found->first, command, now);
    progress = inner_->act(command, now);
    progress.since = kNever;
  } else if (run.phase == Phase::kRunning && command.graceful) {
    run.finishes = stop_unheard(found->first, run, command, now, progress);
  }
  run.saved = progress.work;
  // What was under it is gone, or nothing was ever there. If an earlier launch is, whose end
  // decides whether there is still a job to run, it waits for that.
  if (!command.graceful || (run.phase == Phase::kQueued && is_first(found->first))) {
    erase(found);
    progress.since = now;
  }
  return progress;
}

// It has begun, but the word of that is on its way: it saves what it has done at the speed that it
// began with. Returns whether it will be done before its stop is through.
bool LifeBackend::stop_unheard(RunId id, Run& run, const Command& command, Seconds now,
                               JobProgress& progress) const {
  const Job& job = *command.job;
  Command begin = beginning_of(run, command);
  begin.context.gpus = job.gpus.gpus();
  const Seconds works_from = run.began + inner_->delay_of(begin);
  const double total = true_work(job);
  const auto done_by = [&](Seconds at) {
    return job.work + job.rate * std::max(0.0, at - works_from);
  };
  progress.work = progress.saved_work = std::min(total, done_by(now));
  return done_by(now + fate_of(id, life_).stop) >= total;
}

JobProgress LifeBackend::go_on(const Command& command, Seconds now) {
  if (command.job->starting()) return expected(command, now);
  const auto found = runs_.find(command.run);
  if (found == runs_.end() || found->second.progresses) return inner_->act(command, now);
  Run& run = found->second;
  run.progresses = true;
  return inner_->act(beginning_of(run, command), run.began);
}

void LifeBackend::dispatch(std::span<const Order> orders, Seconds now) {
  for (const Order& order : orders) {
    if (order.kind != CommandKind::kStart) {
      begin_stop(order.kind == CommandKind::kStop ? order.run : order.before, now);
    }
  }
  for (const Order& order : orders) {
    if (order.kind == CommandKind::kStop) continue;
    Run& run = runs_[order.run];
    run.slot = order.slot;
    run.gpus = order.gpus;
    run.kind = order.kind;
    queued_.add(order.run, run.gpus);
    woken_.push_back(order.run);
  }
  start_those_that_can(now);
}

void LifeBackend::begin_stop(RunId id, Seconds now) {
  const auto found = runs_.find(id);
  if (found == runs_.end()) return;
  Run& run = found->second;
  if (run.phase == Phase::kQueued) {
    if (is_first(id)) return erase(found);
    return enter(id, run, Phase::kWithdrawn);
  }
  if (run.phase == Phase::kStopping || run.phase == Phase::kWithdrawn) return;
  enter(id, run, Phase::kStopping);
  set_timer(id, run, now + fate_of(id, life_).stop);
}

RunsByNode* LifeBackend::by_node(Phase phase) {
  if (phase == Phase::kQueued) return &queued_;
  return phase == Phase::kStopping ? &stopping_ : nullptr;
}

void LifeBackend::enter(RunId id, Run& run, Phase phase) {
  if (RunsByNode* const before = by_node(run.phase)) before->remove(id, run.gpus);
  run.phase = phase;
  if (RunsByNode* const now = by_node(phase)) now->add(id, run.gpus);
}

bool LifeBackend::is_first(RunId id) const {
  return runs_.lower_bound({id.job, 0})->first == id && !unheard_.contains(id.job);
}

// Launches that were told to leave, and earlier ones of the same job, come first.
bool LifeBackend::can_start(RunId id, const Run& run) const {
  return is_first(id) && !stopping_.any_on(run.gpus);
}

void LifeBackend::wake_next(JobId job) {
  const auto next = runs_.lower_bound({job, 0});
  if (next != runs_.end() && next->first.job == job) woken_.push_back(next->first);
}

void LifeBackend::start_those_that_can(Seconds now) {
  // Launches that are gone wake others meanwhile. NOLINTNEXTLINE(modernize-loop-convert)
  for (std::size_t i = 0; i < woken_.size(); ++i) {
    const RunId id = woken_[i];
    const auto found = runs_.find(id);
    if (found == runs_.end()) continue;
    Run& run = found->second;
    if (run.phase == Phase::kWithdrawn && is_first(id)) {
      report(id, run.slot, EventKind::kReleased, -1, true, now_);
      erase(found);
      continue;
    }
    if (run.phase != Phase::kQueued || !can_start(id, run)) continue;
    const LaunchFate fate = fate_of(id, life_);
    const bool partial = fate.partial && run.gpus.nodes() > 1;
    enter(id, run, Phase::kStarting);
    run.fails = fate.fails || partial;
    set_timer(id, run, now + (partial ? life_.start_limit : fate.start));
  }
  woken_.clear();
}

void LifeBackend::set_timer(RunId id, Run& run, Seconds at) {
  if (run.at != kNever) timers_.erase({run.at, id});
  run.at = at;
  if (at != kNever) timers_.emplace(at, id);
}

// Wakes the launches that wait for it: on its GPUs, and the next launch of its job.
void LifeBackend::erase(Runs::iterator at) {
  const JobId job = at->first.job;
  const Run& run = at->second;
  set_timer(at->first, at->second, kNever);
  if (RunsByNode* const noted = by_node(run.phase)) noted->remove(at->first, run.gpus);
  if (run.phase == Phase::kStopping) {
    queued_.each_on(run.gpus, [this](RunId id) { woken_.push_back(id); });
  }
  runs_.erase(at);
  wake_next(job);
}

void LifeBackend::report(RunId id, Slot slot, EventKind kind, double saved, bool of_end,
                         Seconds happened) {
  const LaunchFate fate = fate_of(id, life_);
  JobEvent event;
  event.kind = kind;
  event.slot = slot;
  event.job = id.job;
  event.launch = id.launch;
  event.saved = saved;
  event.time = happened + (of_end ? fate.end_delay : fate.start_delay);
  if (of_end ? fate.end_lost : fate.start_lost) {
    event.time = (std::floor(event.time / life_.census) + 1) * life_.census;
  }
  event.time = std::max(event.time, now_);
  reports_.emplace(std::pair{event.time, reported_++}, event);
  if (of_end) unheard_.insert(id.job);
}

void LifeBackend::expire(RunId id) {
  const auto found = runs_.find(id);
  Run& run = found->second;
  set_timer(id, run, kNever);
  if (run.phase == Phase::kStarting && !run.fails) {
    run.phase = Phase::kRunning;
    run.began = now_;
    return report(id, run.slot, EventKind::kStarted, -1, false, now_);
  }
  const bool returned = run.phase == Phase::kStarting;
  const EventKind kind = returned       ? EventKind::kReturned
                         : run.finishes ? EventKind::kFinished
                                        : EventKind::kReleased;
  report(id, run.slot, kind, returned || run.finishes ? -1 : run.saved, true, now_);
  erase(found);
  start_those_that_can(now_);
}

void LifeBackend::take_from_simulation(Seconds until, std::vector<JobEvent>& events) {
  inner_events_.clear();
  inner_->advance(until, false, inner_events_);
  for (const JobEvent& event : inner_events_) {
    if (event.kind != EventKind::kFinished) {
      events.push_back(event);
      if (event.kind == EventKind::kNodeDown || event.kind == EventKind::kGpuDown) lose(event);
      continue;
    }
    for (auto at = runs_.lower_bound({event.job, 0});
         at != runs_.end() && at->first.job == event.job; ++at) {
      if (!at->second.progresses || at->second.phase != Phase::kRunning) continue;
      // Where the word of its start is late, it may have ended before that.
      report(at->first, event.slot, EventKind::kFinished, -1, true, event.time);
      erase(at);
      break;
    }
    start_those_that_can(now_);
  }
}

// Launches that are being stopped on a node or GPU that is gone leave with their last checkpoint.
void LifeBackend::lose(const JobEvent& event) {
  GpuSet gone;
  gone.add(event.node,
           event.kind == EventKind::kNodeDown ? ~std::uint64_t{0} : std::uint64_t{1} << event.gpu);
  std::set<RunId> lost;
  stopping_.each_on(gone, [&lost](RunId id) { lost.insert(id); });
  for (const RunId id : lost) {
    const auto found = runs_.find(id);
    report(id, found->second.slot, EventKind::kReleased, found->second.kept, true, now_);
    erase(found);
  }
  start_those_that_can(now_);
}

Seconds LifeBackend::next_own() const {
  const Seconds timer = timers_.empty() ? kNever : timers_.begin()->first;
  return std::min(timer, reports_.empty() ? kNever : reports_.begin()->first.first);
}

// A job whose start is reported late may have ended before that.
Seconds LifeBackend::next_event() {
  return std::max(now_, std::min(next_own(), inner_->next_event()));
}

Seconds LifeBackend::advance(Seconds until, bool stop_at_event, std::vector<JobEvent>& events) {
  const bool first_only = stop_at_event || until == kNever;
  until = std::max(until, now_);
  while (true) {
    const Seconds next = next_event();
    if (next > until || next == kNever) {
      if (until != kNever) now_ = std::max(now_, until);
      return now_;
    }
    now_ = next;
    const std::size_t before = events.size();
    if (inner_->next_event() <= now_) take_from_simulation(now_, events);
    while (!timers_.empty() && timers_.begin()->first <= now_) expire(timers_.begin()->second);
    bool quiet = false;
    while (!reports_.empty() && reports_.begin()->first.first <= now_) {
      events.push_back(reports_.begin()->second);
      quiet = quiet || !loud(events.back().kind);
      reports_.erase(reports_.begin());
      if (events.back().kind == EventKind::kStarted) continue;
      unheard_.erase(events.back().job);
      wake_next(events.back().job);
    }
    start_those_that_can(now_);
    if (quiet || (first_only && events.size() > before)) return now_;
  }
}

std::unique_ptr<Backend> LifeBackend::fork() const {
  auto future = std::make_unique<LifeBackend>(*this);
  future->life_ = mean_of(life_);
  for (auto& [id, run] : future->runs_) run.fails = false;
  return future;
}

bool LifeBackend::checkpoint(Archive& archive) {
  struct Entry {
    RunId id;
    Run run;
  };
  std::vector<Entry> runs;
  for (const auto& [id, run] : runs_) runs.push_back({id, run});
  archive.each(runs, [&archive](Entry& entry) {
    archive.value(entry.id);
    archive.value(entry.run.slot);
    muster::checkpoint(archive, entry.run.gpus);
    archive.value(entry.run.kind);
    archive.value(entry.run.phase);
    archive.value(entry.run.at);
    archive.value(entry.run.began);
    archive.value(entry.run.saved);
    archive.value(entry.run.kept);
    archive.value(entry.run.fails);
    archive.value(entry.run.finishes);
    archive.value(entry.run.progresses);
  });
  std::vector<JobEvent> reports;
  for (const auto& [key, event] : reports_) reports.push_back(event);
  archive.list(reports);
  archive.value(now_);
  if (archive.reading()) {
    runs_.clear();
    queued_ = stopping_ = {};
    woken_.clear();
    timers_.clear();
    reports_.clear();
    unheard_.clear();
    reported_ = 0;
    for (const Entry& entry : runs) {
      Run& run = runs_[entry.id] = entry.run;
      if (RunsByNode* const noted = by_node(run.phase)) noted->add(entry.id, run.gpus);
      if (run.phase == Phase::kQueued || run.phase == Phase::kWithdrawn) {
        woken_.push_back(entry.id);
      }
      if (entry.run.at != kNever) timers_.emplace(entry.run.at, entry.id);
    }
    for (const JobEvent& event : reports) {
      reports_.emplace(std::pair{event.time, reported_++}, event);
      if (event.kind != EventKind::kStarted) unheard_.insert(event.job);
    }
  }
  return inner_->checkpoint(archive);
}

}  // namespace muster
