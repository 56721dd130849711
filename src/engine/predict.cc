// Looking ahead: the engine forks its state, not its past, and lets one policy set rule the fork.
#include <algorithm>

#include "engine/engine.h"

namespace muster {
namespace {

class NoMoreJobs final : public JobSource {
 public:
  const JobSpec* peek() override { return nullptr; }
  void pop() override {}
  bool finished() override { return true; }
};

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

Prediction Engine::predict(std::size_t policy_set, Seconds horizon) {
  Prediction prediction;
  const std::unique_ptr<Backend> backend = parts_.backend->fork();
  if (backend == nullptr) return prediction;
  NoMoreJobs no_more;
  Tally tally(prediction);
  Parts parts;
  parts.cluster = parts_.cluster;
  parts.perf = parts_.perf;
  parts.pacing = parts_.pacing->clone();
  parts.policy_sets.push_back(parts_.policy_sets[policy_set].clone());
  if (parts_.scaling != nullptr) parts.scaling = parts_.scaling->clone();
  parts.forecast = parts_.forecast;
  parts.backend = backend.get();
  parts.source = &no_more;
  parts.observers = {&tally};
  parts.options = parts_.options;
  parts.options.until_left.reset();
  // A future in which jobs push each other out for ever ends with the run.
  parts.options.until = std::min(parts_.options.until, now_ + horizon);
  Engine future(std::move(parts));
  future.jobs_ = jobs_;
  future.cluster_ = cluster_;
  future.held_ = held_;
  future.demanded_ = demanded_;
  future.running_ = running_;
  future.opportunistic_ = opportunistic_;
  future.now_ = now_;
  future.started_ = true;
  future.stalled_events_ = stalled_events_;
  future.stalled_turns_ = stalled_turns_;
  // This turn has been observed already: the fork goes on from the decision.
  future.decide();
  if (future.deadlocked()) future.give_up_waiting();
  future.next_ = future.next_turn();
  while (future.turn()) {
  }
  // The last turn lies somewhere before the horizon; all policy sets are judged at the horizon.
  const Seconds end = horizon == kNever ? future.now_ : now_ + horizon;
  for (const Slot slot : future.jobs_.active()) {
    const Job& job = future.jobs_[slot];
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
