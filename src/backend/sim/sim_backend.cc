#include "backend/sim/sim_backend.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>

#include "base/archive.h"
#include "model/truth.h"

namespace muster {

SimBackend::SimBackend(SimParts parts, std::unique_ptr<ProgressModel> model)
    : cluster_(std::move(parts.cluster)),
      perf_(std::move(parts.perf)),
      cost_(std::move(parts.cost)),
      nodes_(*cluster_, parts.failures),
      model_(std::move(model)) {}

double SimBackend::saved_by(const Job& job, Seconds now) const {
  if (cost_->checkpoint_interval <= 0) return job.work_at(now);
  const double ran = std::max(0.0, now - job.since);
  const double saves = std::floor(ran / cost_->checkpoint_interval);
  return std::max(job.saved_work, job.work + job.rate * saves * cost_->checkpoint_interval);
}

JobProgress SimBackend::act(const Command& command, Seconds now) {
  const Job& job = *command.job;
  JobProgress progress;
  if (command.kind == CommandKind::kStop) return stop(command, now);
  progress.rate = rate_of(command);
  assert(progress.rate > 0 && "a performance model gave a job no speed");
  progress.work = work_by(command, now);
  const bool updates = command.kind == CommandKind::kUpdateRate;
  if (updates || command.kind == CommandKind::kAdopt) {
    progress.since = job.since == kNever ? now : std::max(now, job.since);
    progress.saved_work = saved_by(job, now);
    // Its end has been reported already, in the same batch as what changed its neighbours, or it
    // never began here, which is not known yet.
    if (updates && !runs(command.slot)) return progress;
  } else {
    progress.since = now + delay_of(command);
    progress.saved_work = progress.work;
  }
  foresee(command, progress, now);
  return progress;
}

JobProgress SimBackend::stop(const Command& command, Seconds now) {
  const Job& job = *command.job;
  forget(command.slot);
  JobProgress progress;
  const bool saves = command.graceful && cost_->stop_saves;
  progress.work = saves ? work_by(command, now) : saved_by(job, now);
  progress.saved_work = progress.work;
  progress.since = now;
  if (stops_add_work()) progress.added_work = cost_->restart_of(job.spec.model, job.gpus.gpus());
  return progress;
}

Seconds SimBackend::delay_of(const Command& command) const {
  const bool paid = command.resumed || command.kind != CommandKind::kStart;
  return paid && stops_add_work() ? 0 : start_cost(command, *cost_);
}

double SimBackend::rate_of(const Command& command) const {
  const double usual = perf_->rate(command.job->spec, command.context);
  return model_ == nullptr ? usual : model_->rate(command, usual);
}

double SimBackend::work_by(const Command& command, Seconds now) const {
  const Job& job = *command.job;
  const bool found = command.kind == CommandKind::kAdopt;
  if (model_ == nullptr || !job.running() || found) return job.work_at(now);
  return model_->work_by(command, true_work(job), now);
}

void SimBackend::foresee(const Command& command, const JobProgress& progress, Seconds now) {
  const Slot slot = command.slot;
  const Job& job = *command.job;
  forget(slot);
  const double total = true_work(job);
  const double left = std::max(0.0, total - progress.work);
  const Seconds end = model_ == nullptr ? progress.since + left / progress.rate
                                        : model_->end_of(command, progress, total, now);
  if (end == kNever) return;
  running_[index(slot)] = 1;
  ++live_;
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
  drop_stale();
  return std::min(heap_.empty() ? kNever : heap_.front().time, nodes_.next());
}

Seconds SimBackend::advance(Seconds until, bool stop_at_event, std::vector<JobEvent>& events) {
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
  if (model_ != nullptr) model_->checkpoint(archive);
  archive.list(heap_);
  archive.list(run_);
  archive.list(running_);
  archive.value(live_);
  archive.value(now_);
  return true;
}

Seconds SimBackend::end_of(Slot slot) const {
  if (!runs(slot)) return kNever;
  for (const Completion& done : heap_) {
    if (done.slot == slot && done.run == run_[index(slot)]) return done.time;
  }
  return kNever;
}

std::unique_ptr<SimBackend> SimBackend::copy() const {
  auto future = std::make_unique<SimBackend>(*this);
  future->nodes_.forget_failures();
  if (model_ != nullptr) future->model_ = model_->clone();
  return future;
}

}  // namespace muster
