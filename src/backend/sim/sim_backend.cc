#include "backend/sim/sim_backend.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>

#include "base/archive.h"

namespace muster {

SimBackend::SimBackend(std::shared_ptr<const ClusterSpec> cluster,
                       std::shared_ptr<const PerfModel> perf,
                       std::shared_ptr<const RestartCost> cost, const FailureOptions& failures,
                       const ProgressRule& rule)
    : cluster_(std::move(cluster)),
      perf_(std::move(perf)),
      cost_(std::move(cost)),
      nodes_(*cluster_, failures),
      rule_(rule),
      leases_(rule.leases) {}

double SimBackend::saved_by(const Job& job, Seconds now) const {
  if (cost_->checkpoint_interval <= 0) return job.work_at(now);
  const double ran = std::max(0.0, now - job.since);
  const double saves = std::floor(ran / cost_->checkpoint_interval);
  return std::max(job.saved_work, job.work + job.rate * saves * cost_->checkpoint_interval);
}

JobProgress SimBackend::act(const Command& command, Seconds now) {
  if (leases_.on()) return act_with_leases(command, now);
  const Job& job = *command.job;
  JobProgress progress;
  if (command.kind == CommandKind::kStop) return stop(command, now);
  progress.rate = rate_of(command);
  assert(progress.rate > 0 && "a performance model gave a job no speed");
  progress.work = work_by(command, now);
  if (command.kind == CommandKind::kUpdateRate) {
    progress.since = std::max(now, job.since);
    progress.saved_work = saved_by(job, now);
    // Its end has been reported already, in the same batch as what changed its neighbours.
    if (running_[index(command.slot)] == 0) return progress;
  } else {
    progress.since = now + cost_of(command);
    progress.saved_work = progress.work;
  }
  foresee(command, progress, now);
  return progress;
}

Seconds SimBackend::cost_of(const Command& command) const {
  const bool again = command.resumed || command.kind != CommandKind::kStart;
  if (!again) return cost_->first_start;
  if (cost_->stop_adds_work) return 0;
  return cost_->restart_of(command.job->spec.model, command.context.gpus);
}

JobProgress SimBackend::act_with_leases(const Command& command, Seconds now) {
  JobProgress progress;
  progress.since = now;
  const bool known = leases_.runs(command.slot);
  if (command.kind == CommandKind::kStop || (command.kind == CommandKind::kUpdateRate && !known)) {
    // One whose last lease is over has its end in the same batch of events.
    progress.work = known ? leases_.work_of(command.slot) : command.job->total_work;
    progress.rate = 1;
    progress.saved_work = progress.work;
    if (command.kind == CommandKind::kStop) leases_.stop(command.slot);
    return progress;
  }
  const Seconds cost = command.kind == CommandKind::kUpdateRate ? 0 : cost_of(command);
  // Groups form one command after the other: only what they are in the end must have a speed.
  leases_.run(command, perf_->step_rate(command.job->spec, command.context), cost);
  progress.work = leases_.work_of(command.slot);
  progress.rate = rate_of(command);
  progress.since = now + cost;
  progress.saved_work = progress.work;
  return progress;
}

Seconds SimBackend::advance_with_leases(Seconds until, std::vector<JobEvent>& events) {
  const Seconds limit = until == kNever ? std::max(now_, next_event()) : until;
  if (limit == kNever) return now_;
  while (nodes_.next() <= limit) {
    const JobEvent event = nodes_.pop();
    const bool down = event.kind == EventKind::kNodeDown || event.kind == EventKind::kGpuDown;
    if (down) leases_.lose(event.node, event.gpu, event.time);
    events.push_back(event);
  }
  leases_.give(now_);
  if (leases_.end() <= limit) leases_.settle(events);
  now_ = limit;
  return now_;
}

JobProgress SimBackend::stop(const Command& command, Seconds now) {
  const Job& job = *command.job;
  forget(command.slot);
  JobProgress progress;
  const bool saves = command.graceful && cost_->stop_saves;
  progress.work = saves ? work_by(command, now) : saved_by(job, now);
  progress.saved_work = progress.work;
  progress.since = now;
  if (cost_->stop_adds_work)
    progress.added_work = cost_->restart_of(job.spec.model, job.gpus.gpus());
  return progress;
}

double SimBackend::rate_of(const Command& command) const {
  const Job& job = *command.job;
  // The published defect: a job that joined another is not sped up when the other leaves.
  if (rule_.joined_keep_rate && command.kind == CommandKind::kUpdateRate && job.joined &&
      command.context.neighbours.empty()) {
    return job.rate;
  }
  return perf_->rate(job.spec, command.context);
}

double SimBackend::work_by(const Command& command, Seconds now) {
  const Job& job = *command.job;
  if (!rule_.countdown || !job.running()) return job.work_at(now);
  const Countdown& clock = countdown_[index(command.slot)];
  return job.total_work - clock.left_at(now);
}

void SimBackend::foresee(const Command& command, const JobProgress& progress, Seconds now) {
  const Slot slot = command.slot;
  const Job& job = *command.job;
  forget(slot);
  if (rule_.until_told) return;
  const double left = std::max(0.0, job.total_work - progress.work);
  running_[index(slot)] = 1;
  ++live_;
  Seconds end = progress.since + left / progress.rate;
  if (rule_.countdown) {
    if (countdown_.size() <= index(slot)) countdown_.resize(index(slot) + 1);
    Countdown& clock = countdown_[index(slot)];
    // Work is kept as what is left: subtracting it from the total and back would lose digits.
    if (!job.running()) {
      clock = {left, progress.rate, progress.since, command.context.joined};
    } else {
      // Jobs are counted down in the order of their starts: one that joined another
      // and is alone now finds its new rate already set in this very second.
      const bool alone_again = clock.behind && command.context.neighbours.empty();
      const Seconds from = alone_again ? std::max(clock.since, now - 1) : now;
      clock = {clock.left_at(from), progress.rate, std::max(from, clock.since),
               command.context.joined};
    }
    end = clock.end();
  }
  push({end, job.spec.id, slot, run_[index(slot)]});
}

void SimBackend::forget(Slot slot) {
  const std::size_t i = index(slot);
  if (run_.size() <= i) {
    run_.resize(i + 1, 0);
    running_.resize(i + 1, 0);
  }
  if (running_[i] == 0) return;
  running_[i] = 0;
  ++run_[i];
  --live_;
  if (heap_.size() > 64 + 2 * live_) {
    std::erase_if(heap_, [this](const Completion& c) { return run_[index(c.slot)] != c.run; });
    std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
  }
}

void SimBackend::push(const Completion& completion) {
  heap_.push_back(completion);
  std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
}

void SimBackend::pop() {
  std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
  heap_.pop_back();
}

void SimBackend::drop_stale() {
  while (!heap_.empty() && run_[index(heap_.front().slot)] != heap_.front().run) pop();
}

Seconds SimBackend::next_event() {
  if (leases_.on()) {
    leases_.give(now_);
    return leases_.end() == kNever ? nodes_.next() : leases_.end();
  }
  drop_stale();
  return std::min(heap_.empty() ? kNever : heap_.front().time, nodes_.next());
}

Seconds SimBackend::advance(Seconds until, bool stop_at_event, std::vector<JobEvent>& events) {
  if (leases_.on()) return advance_with_leases(until, events);
  const bool first_only = stop_at_event || until == kNever;
  const Seconds limit = first_only ? std::min(until, std::max(now_, next_event())) : until;
  if (limit == kNever) return now_;
  for (Seconds next = next_event(); next <= limit; next = next_event()) {
    // Work that is done when a node fails at the same moment is done.
    if (heap_.empty() || heap_.front().time > nodes_.next()) {
      events.push_back(nodes_.pop());
      continue;
    }
    const Completion done = heap_.front();
    forget(done.slot);
    JobEvent event;
    event.time = done.time;
    event.kind = EventKind::kFinished;
    event.slot = done.slot;
    event.job = done.job;
    events.push_back(event);
  }
  now_ = limit;
  return now_;
}

bool SimBackend::checkpoint(Archive& archive) {
  nodes_.checkpoint(archive);
  leases_.checkpoint(archive);
  archive.list(countdown_);
  archive.list(heap_);
  archive.list(run_);
  archive.list(running_);
  archive.value(live_);
  archive.value(now_);
  return true;
}

std::unique_ptr<Backend> SimBackend::fork() const {
  auto future = std::make_unique<SimBackend>(*this);
  future->nodes_.forget_failures();
  return future;
}

}  // namespace muster
