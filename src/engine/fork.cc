// Forks: a copy of the engine's state without its past. Look-ahead runs a fork under one policy
// set.
#include <algorithm>

#include "engine/engine.h"
#include "model/belief.h"

namespace muster {
namespace {

class Tally final : public Observer {
 public:
  explicit Tally(Prediction& prediction) : prediction_(prediction) {}
  void on_job_end(const JobRecord& job) override {
    if (job.status != JobState::kFinished) return;
    ++prediction_.finished;
    prediction_.sum_completion_time += job.completion_time();
  }

 private:
  Prediction& prediction_;
};

}  // namespace

Engine::Parts Engine::fork_parts(const Fork& with) const {
  Parts parts;
  parts.cluster = parts_.cluster;
  parts.perf = parts_.perf;
  parts.pacing = parts_.pacing->clone();
  if (parts_.scaling != nullptr) parts.scaling = parts_.scaling->clone();
  parts.forecast = parts_.forecast;
  parts.prices = parts_.prices;
  parts.backend = with.backend;
  parts.source = with.source;
  parts.observers = with.observers;
  parts.options = with.options.value_or(parts_.options);
  parts.metrics = parts_.metrics;
  parts.metric_names = parts_.metric_names;
  return parts;
}

std::unique_ptr<Engine> Engine::fork(const Fork& with) const {
  Parts parts = fork_parts(with);
  for (const PolicySet& one : parts_.policy_sets) parts.policy_sets.push_back(one.clone());
  if (parts_.selector != nullptr) parts.selector = parts_.selector->clone();
  auto future = std::make_unique<Engine>(std::move(parts));
  future->state_ = state_;
  future->tell_beliefs(with);
  return future;
}

void Engine::tell_beliefs(const Fork& with) {
  JobTable& jobs = state_.jobs;
  state_.now = std::max(state_.now, with.now);
  const auto revise = [&](Slot slot) {
    forget_truth(jobs[slot].spec);
    if (with.revise) with.revise(jobs[slot]);
  };
  for (const Slot slot : jobs.active()) revise(slot);
  for (const Slot slot : state_.held) revise(slot);
  for (const Slot slot : state_.on_hold) revise(slot);
  if (!with.new_backend) {
    for (const Slot slot : jobs.running()) {
      if (with.revise) note_belief(slot);
      if (jobs[slot].spec.believed) update_rate(slot, state_.now);
    }
    // A job that was revised may end at another time than was foreseen.
    if (with.revise && state_.next > state_.now) state_.next = next_turn();
    return;
  }
  // A launch that was on the way, to its GPUs or off them, has arrived.
  for (const Slot slot : jobs.active()) {
    Job& job = jobs[slot];
    job.ended = job.running() ? job.launch - 1 : job.launch;
    if (!job.starting()) continue;
    end_wait(job, state_.now);
    job.since = state_.now;
  }
  for (const Slot slot : jobs.running()) {
    note_belief(slot);
    update_rate(slot, state_.now, CommandKind::kAdopt);
  }
  // Unless a turn is due at once, it comes when the new backend foresees something.
  if (state_.next > state_.now) state_.next = next_turn();
}

Prediction Engine::predict(std::size_t policy_set, Seconds horizon) {
  Prediction prediction;
  const std::unique_ptr<Backend> backend = parts_.backend->fork();
  if (backend == nullptr) return prediction;
  ListSource no_more({});
  Tally tally(prediction);
  Parts parts = fork_parts({backend.get(), &no_more, {&tally}});
  parts.policy_sets.push_back(parts_.policy_sets[policy_set].clone());
  parts.options.until_left.reset();
  // A future in which jobs push each other out for ever ends with the run.
  parts.options.until = std::min(parts_.options.until, state_.now + horizon);
  Engine future(std::move(parts));
  future.state_ = state_;
  future.state_.active = 0;
  future.state_.changed = true;
  future.state_.rescaled = false;
  future.state_.started = true;
  future.state_.turned = state_.now;
  // The look-ahead of a live engine uses a simulator that does not know these jobs yet.
  Fork with;
  with.new_backend = parts_.backend->has_external_events();
  future.tell_beliefs(with);
  // This turn has been observed already: the fork goes on from the decision.
  future.decide();
  if (future.deadlocked()) future.give_up_waiting();
  future.dispatch();
  future.state_.next = future.next_turn();
  while (future.turn()) {
  }
  // The last turn lies somewhere before the horizon; all policy sets are judged at the horizon.
  const Seconds end = horizon == kNever ? future.state_.now : state_.now + horizon;
  for (const Slot slot : future.state_.jobs.active()) {
    const Job& job = future.state_.jobs[slot];
    ++prediction.unfinished;
    prediction.sum_age += end - job.spec.submit;
    if (job.total_work > 0)
      prediction.sum_progress += std::min(1.0, job.work_at(end) / job.total_work);
    if (job.waiting() && job.spec.duration > 0) {
      prediction.sum_slowdown += (end - job.spec.submit) / job.spec.duration;
    }
  }
  return prediction;
}

}  // namespace muster
