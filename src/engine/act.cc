// What changes jobs: starts, stops, moves, ends, and the commands that go with them.
#include <algorithm>
#include <cassert>

#include "engine/engine.h"
#include "model/record_of.h"

namespace muster {

void Engine::notify(JobMoment moment, Slot slot) {
  for (PolicySet& c : parts_.policy_sets) c.scheduling->on_job(moment, slot, view());
}

void Engine::settle_held_time(Job& job) {
  job.held_before += now_ - job.held_since;
  job.gpu_seconds_before += (now_ - job.held_since) * job.gpus.gpus();
  if (parts_.prices == nullptr) return;
  for (int i = 0; i < job.gpus.nodes(); ++i) {
    const Symbol type = cluster_.node(job.gpus[i].node).gpu_type;
    cost_[index(job.self)] +=
        job.gpus[i].count() * parts_.prices->between(type, job.held_since, now_);
  }
}

// The GPUs of a job that stops or ends; those of a group stay with the others, and an opportunistic
// job's were never its own.
void Engine::give_back(Job& job) {
  if (job.opportunistic) {
    job.opportunistic = false;
    --opportunistic_;
  } else if (job.next_co_located == job.self) {
    cluster_.release(job.gpus, job.spec.partition, job.host);
  }
}

namespace {

bool overlap(const GpuSet& a, const GpuSet& b) {
  for (int i = 0; i < a.nodes(); ++i) {
    for (int j = 0; j < b.nodes(); ++j) {
      if (a[i].node == b[j].node && (a[i].mask & b[j].mask) != 0) return true;
    }
  }
  return false;
}

}  // namespace

void Engine::update_opportunistic_rates(const GpuSet& gpus, Seconds at) {
  if (opportunistic_ == 0) return;
  for (const Slot slot : jobs_.running()) {
    if (jobs_[slot].opportunistic && overlap(jobs_[slot].gpus, gpus)) update_group_rates(slot, at);
  }
}

void Engine::unlink(Slot slot, Seconds at, bool update_rates) {
  Job& job = jobs_[slot];
  if (job.next_co_located == slot) return;
  Slot before = job.next_co_located;
  while (jobs_[before].next_co_located != slot) before = jobs_[before].next_co_located;
  jobs_[before].next_co_located = job.next_co_located;
  job.next_co_located = slot;
  if (update_rates) update_group_rates(before, at);
}

void Engine::conclude(const PolicyCompletion& completion) {
  Job& job = jobs_[completion.job];
  changed_ = true;
  if (job.running()) {
    assert(completion.state == JobState::kFinished && "a running job cannot be refused");
    job.since = completion.end;
    finish(completion.job, completion.end, completion.done);
    return;
  }
  job.waited_before += now_ - job.waiting_since;
  demanded_ -= job.spec.gpus;
  if (completion.state != JobState::kFinished) {
    leave(completion.job, completion.state, completion.reason, completion.end, completion.done);
    return;
  }
  // The policy has its own idea of progress, but the placement had no place for the job.
  const bool ran = job.state == JobState::kPreempted;
  leave(completion.job, ran ? JobState::kFailed : JobState::kRefused, Reason::kNeverFits, now_);
}

void Engine::finish(Slot slot, Seconds end, Seconds done) {
  Job& job = jobs_[slot];
  job.work = job.total_work;
  job.rate = 0;
  settle_held_time(job);
  give_back(job);
  const GpuSet held = opportunistic_ > 0 ? job.gpus : GpuSet{};
  job.gpus.clear();
  --running_;
  demanded_ -= job.spec.gpus;
  unlink(slot, now_);
  update_opportunistic_rates(held, now_);
  leave(slot, JobState::kFinished, Reason::kCompleted, end, done);
}

void Engine::crash(Slot slot, Seconds at) {
  halt(slot, Reason::kCrashed, kNoJob, {.at = at, .graceful = false, .release = true});
  Job& job = jobs_[slot];
  ++job.crashes;
  ++job.restarts;
  if (job.crashes <= parts_.options.max_crashes) return;
  demanded_ -= job.spec.gpus;
  leave(slot, JobState::kFailed, Reason::kCrashed, parts_.pacing->end_of(at, now_));
}

void Engine::halt(Slot slot, Reason reason, JobId other, const HaltHow& how) {
  Job& job = jobs_[slot];
  const double done = job.work_at(how.at);
  const JobProgress progress =
      command(CommandKind::kStop, slot, job.gpus, job.host, how.at, how.graceful);
  job.lost_work += std::max(0.0, done - progress.work);
  job.total_work += progress.added_work;
  job.overhead += progress.added_work;
  job.work = progress.work;
  job.saved_work = progress.work;
  job.rate = 0;
  job.since = now_;
  settle_held_time(job);
  if (how.release || job.opportunistic) give_back(job);
  log(Action::kStop, reason, job.spec.id, job.gpus.gpus(), other);
  const GpuSet held = opportunistic_ > 0 ? job.gpus : GpuSet{};
  job.gpus.clear();
  unlink(slot, how.at, how.update_rates);
  update_opportunistic_rates(held, how.at);
  job.waiting_since = now_;
  --running_;
  changed_ = true;
  jobs_.set_state(slot, JobState::kPreempted);
  notify(JobMoment::kStopped, slot);
}

void Engine::leave(Slot slot, JobState status, Reason reason, Seconds end, Seconds done) {
  jobs_.set_state(slot, status);
  const Job& job = jobs_[slot];
  const Action action = status == JobState::kFinished ? Action::kFinish
                        : status == JobState::kFailed ? Action::kFail
                                                      : Action::kRefuse;
  log(action, reason, job.spec.id, job.spec.gpus);
  if (!parts_.observers.empty()) {
    JobRecord record = record_of(job.spec);
    record.start = job.first_start;
    record.end = end;
    record.queue = job.first_start == kNever ? end - job.spec.submit : job.waited_before;
    record.status = status;
    record.reason = reason;
    record.preemptions = job.preemptions;
    record.restarts = job.restarts;
    record.resizes = job.resizes;
    record.gpu_seconds = job.gpu_seconds_before;
    if (parts_.prices != nullptr) record.cost = cost_[index(slot)];
    record.lost_work = job.lost_work;
    record.overhead = job.overhead;
    if (done != end) record.done = done;
    if (status == JobState::kFinished)
      record.value = job.spec.value_at(done == kNever ? end : done);
    for (Observer* observer : parts_.observers) observer->on_job_end(record);
  }
  notify(JobMoment::kLeft, slot);
  ++left_;
  if (parts_.options.until_left && job.spec.id >= parts_.options.until_left->first &&
      job.spec.id <= parts_.options.until_left->second) {
    ++tracked_left_;
  }
  jobs_.remove(slot);
}

JobProgress Engine::command(CommandKind kind, Slot slot, const GpuSet& gpus,
                            const HostResources& host, Seconds at, bool graceful) {
  const Job& job = jobs_[slot];
  const bool stops = kind == CommandKind::kStop;
  // Made where it stays: this is called for every job that moves.
  Command command{.kind = kind,
                  .slot = slot,
                  .job = &job,
                  .gpus = &gpus,
                  .context = stops ? RunContext{} : run_context_of(cluster_, gpus, host),
                  .resumed = job.first_start != kNever,
                  .graceful = graceful};
  if (!stops) {
    neighbours_.clear();
    for (Slot other = job.next_co_located; other != slot; other = jobs_[other].next_co_located) {
      neighbours_.push_back(&jobs_[other].spec);
      if (jobs_[other].start_order < job.start_order) command.context.joined = true;
    }
    command.context.opportunistic = job.opportunistic;
    if (job.opportunistic) {
      for (const Slot other : jobs_.running()) {
        const Job& holder = jobs_[other];
        if (!holder.opportunistic && overlap(holder.gpus, gpus))
          neighbours_.push_back(&holder.spec);
      }
    }
    command.context.neighbours = neighbours_;
  }
  return parts_.backend->act(command, at);
}

void Engine::update_rate(Slot slot, Seconds at) {
  Job& job = jobs_[slot];
  const JobProgress progress =
      command(CommandKind::kUpdateRate, slot, job.gpus, job.host, at, true);
  job.work = progress.work;
  job.rate = progress.rate;
  job.since = progress.since;
  job.saved_work = progress.saved_work;
}

void Engine::update_group_rates(Slot member, Seconds at) {
  Slot slot = member;
  do {
    if (jobs_[slot].running()) update_rate(slot, at);
    slot = jobs_[slot].next_co_located;
  } while (slot != member);
}

void Engine::launch(const PlacementDraft::Step& step, CommandKind kind) {
  const Slot slot = step.job;
  Job& job = jobs_[slot];
  told_[index(slot)] = turn_mark_;
  job.joined = step.co_located_with != kNoSlot;
  if (step.opportunistic) {
    job.opportunistic = true;
    ++opportunistic_;
  }
  const JobProgress progress = command(kind, slot, step.gpus, step.host, now_, true);
  if (kind == CommandKind::kStart) {
    job.waited_before += now_ - job.waiting_since;
    ++running_;
    log(Action::kStart, step.reason, job.spec.id, step.gpus.gpus(), step.other,
        static_cast<int>(step.gpus[0].node), &step.gpus);
  } else {
    settle_held_time(job);
    const bool resize = kind == CommandKind::kResize;
    if (resize) ++job.resizes;
    log(resize ? Action::kResize : Action::kMove, step.reason, job.spec.id, step.gpus.gpus(),
        step.other, static_cast<int>(step.gpus[0].node), &step.gpus);
  }
  job.overhead += std::max(0.0, progress.since - now_);
  job.gpus = step.gpus;
  job.host = step.host;
  job.held_since = now_;
  job.work = progress.work;
  job.rate = progress.rate;
  job.since = progress.since;
  job.saved_work = progress.saved_work;
  if (job.first_start == kNever) job.first_start = now_;
  if (kind == CommandKind::kStart) {
    jobs_.set_state(slot, JobState::kRunning);
    notify(JobMoment::kStarted, slot);
  }
  if (!step.opportunistic) update_opportunistic_rates(step.gpus, now_);
}

}  // namespace muster
