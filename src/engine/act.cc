// The changes of jobs: starts, stops, moves, ends, and the commands that belong to them.
#include <algorithm>
#include <cassert>

#include "engine/engine.h"
#include "model/record_of.h"

namespace muster {

void Engine::notify(JobMoment moment, Slot slot) {
  for (PolicySet& c : parts_.policy_sets) c.scheduling->on_job(moment, slot, view());
}

void Engine::settle_held_time(Job& job) {
  if (job.held_since == kNever) return;  // it never began to use them
  job.held_before += state_.now - job.held_since;
  job.gpu_seconds_before += (state_.now - job.held_since) * job.gpus.gpus();
  if (parts_.prices == nullptr) return;
  for (int i = 0; i < job.gpus.nodes(); ++i) {
    const Symbol type = state_.cluster.node(job.gpus[i].node).gpu_type;
    state_.cost[index(job.self)] +=
        job.gpus[i].count() * parts_.prices->between(type, job.held_since, state_.now);
  }
}

// The GPUs of a job that stops or ends; those of a group stay with the others, and an opportunistic
// job's were never its own.
void Engine::give_back(Job& job) {
  if (job.opportunistic) {
    job.opportunistic = false;
    --state_.opportunistic;
  } else if (job.next_co_located == job.self) {
    state_.cluster.release(job.gpus, job.spec.partition, job.host);
  }
}

void Engine::update_opportunistic_rates(const GpuSet& gpus, Seconds at) {
  if (state_.opportunistic == 0) return;
  for (const Slot slot : state_.jobs.running()) {
    if (state_.jobs[slot].opportunistic && overlap(state_.jobs[slot].gpus, gpus))
      update_group_rates(slot, at);
  }
}

void Engine::unlink(Slot slot, Seconds at, bool update_rates) {
  Job& job = state_.jobs[slot];
  if (job.next_co_located == slot) return;
  Slot before = job.next_co_located;
  while (state_.jobs[before].next_co_located != slot) before = state_.jobs[before].next_co_located;
  state_.jobs[before].next_co_located = job.next_co_located;
  job.next_co_located = slot;
  if (update_rates) update_group_rates(before, at);
}

void Engine::conclude(const PolicyCompletion& completion) {
  Job& job = state_.jobs[completion.job];
  state_.changed = true;
  if (job.running()) {
    assert(completion.state == JobState::kFinished && "a running job cannot be refused");
    if (later_) order_stop(job, completion.reason, true);
    job.since = completion.end;
    finish(completion.job, completion.end, completion.done);
    return;
  }
  job.waited_before += state_.now - job.waiting_since;
  state_.demanded -= job.spec.gpus;
  const bool ran = job.state == JobState::kPreempted;
  if (completion.state != JobState::kFinished) {
    // A job that has run is not refused.
    const bool refused = completion.state == JobState::kRefused;
    leave(completion.job, ran && refused ? JobState::kFailed : completion.state, completion.reason,
          completion.end, completion.done);
    return;
  }
  // The policy has its own idea of progress, but the placement had no place for the job.
  leave(completion.job, ran ? JobState::kFailed : JobState::kRefused, Reason::kNeverFits,
        state_.now);
}

void Engine::finish(Slot slot, Seconds end, Seconds done) {
  Job& job = state_.jobs[slot];
  job.work = job.total_work;
  job.rate = 0;
  settle_held_time(job);
  give_back(job);
  const GpuSet held = state_.opportunistic > 0 ? job.gpus : GpuSet{};
  job.gpus.clear();
  --state_.running;
  state_.demanded -= job.spec.gpus;
  unlink(slot, state_.now);
  update_opportunistic_rates(held, state_.now);
  leave(slot, JobState::kFinished, Reason::kCompleted, end, done);
}

void Engine::crash(Slot slot, Seconds at) {
  halt(slot, Reason::kCrashed, kNoJob, {.at = at, .graceful = false, .release = true});
  Job& job = state_.jobs[slot];
  ++job.crashes;
  ++job.restarts;
  if (job.crashes <= parts_.options.max_crashes) return;
  state_.demanded -= job.spec.gpus;
  leave(slot, JobState::kFailed, Reason::kCrashed, parts_.pacing->end_of(at, state_.now));
}

void Engine::halt(Slot slot, Reason reason, JobId other, const HaltHow& how) {
  Job& job = state_.jobs[slot];
  const double done = job.work_at(how.at);
  const bool began = job.held_since != kNever;
  JobProgress progress{.work = how.work};
  if (how.asks)
    progress = command(CommandKind::kStop, slot, job.gpus, job.host, how.at, how.graceful);
  if (how.asks && progress.since == kNever) {
    order_stop(job, reason, how.graceful);
  } else {
    job.ended = job.launch;
  }
  job.lost_work += std::max(0.0, done - progress.work);
  job.total_work += progress.added_work;
  job.added_work += progress.added_work;
  job.overhead += progress.added_work;
  job.work = progress.work;
  job.saved_work = progress.work;
  job.rate = 0;
  job.since = state_.now;
  note_belief(slot);
  settle_held_time(job);
  if (how.release || job.opportunistic) give_back(job);
  log(Action::kStop, reason, job.spec.id, job.gpus.gpus(), other);
  const GpuSet held = state_.opportunistic > 0 ? job.gpus : GpuSet{};
  job.gpus.clear();
  unlink(slot, how.at, how.update_rates);
  update_opportunistic_rates(held, how.at);
  if (began) job.waiting_since = state_.now;
  --state_.running;
  state_.changed = true;
  const bool ran = job.first_start != kNever;
  state_.jobs.set_state(slot, ran ? JobState::kPreempted : JobState::kQueued);
  notify(JobMoment::kStopped, slot);
}

void Engine::order_stop(Job& job, Reason reason, bool graceful) {
  Order unsent;
  RunId run{job.spec.id, job.launch};
  if (orders_.withdraw(run, unsent)) {
    // The backend never received it, so there is no such launch. Of a move, the one before is still
    // there; of a start, an earlier one may be on its way out.
    const bool starts = unsent.kind == CommandKind::kStart;
    job.launch = starts ? job.launch - 1 : unsent.before.launch;
    run = unsent.before;
    if (starts) return;
  }
  if (job.ended >= run.launch) return;
  orders_.add({.kind = CommandKind::kStop,
               .run = run,
               .before = {},
               .slot = job.self,
               .gpus = job.gpus,
               .host = job.host,
               .graceful = graceful,
               .reason = reason});
}

void Engine::leave(Slot slot, JobState status, Reason reason, Seconds end, Seconds done) {
  state_.jobs.set_state(slot, status);
  const Job& job = state_.jobs[slot];
  const Action action = status == JobState::kFinished    ? Action::kFinish
                        : status == JobState::kFailed    ? Action::kFail
                        : status == JobState::kCancelled ? Action::kCancel
                                                         : Action::kRefuse;
  log(action, reason, job.spec.id, job.spec.gpus);
  if (!state_.back_offs.empty())
    std::erase_if(state_.back_offs, [slot](const BackOff& one) { return one.slot == slot; });
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
    if (parts_.prices != nullptr) record.cost = state_.cost[index(slot)];
    record.lost_work = job.lost_work;
    record.overhead = job.overhead;
    if (done != end) record.done = done;
    if (status == JobState::kFinished)
      record.value = job.spec.value_at(done == kNever ? end : done);
    for (Observer* observer : parts_.observers) observer->on_job_end(record);
  }
  notify(JobMoment::kLeft, slot);
  state_.metrics.clear(slot);
  ++state_.left;
  if (parts_.options.until_left && job.spec.id >= parts_.options.until_left->first &&
      job.spec.id <= parts_.options.until_left->second) {
    ++state_.tracked_left;
  }
  state_.jobs.remove(slot);
}

void Engine::leave_held(Slot slot, JobState status, Reason reason) {
  Job& job = state_.jobs[slot];
  if (job.first_start != kNever) job.waited_before += state_.now - job.waiting_since;
  leave(slot, status, reason, state_.now);
}

JobProgress Engine::command(CommandKind kind, Slot slot, const GpuSet& gpus,
                            const HostResources& host, Seconds at, bool graceful) {
  const Job& job = state_.jobs[slot];
  const bool stops = kind == CommandKind::kStop;
  // Made where it stays: this is called for every job that moves.
  Command command{.kind = kind,
                  .slot = slot,
                  .run = {job.spec.id, job.launch},
                  .job = &job,
                  .gpus = &gpus,
                  .context = stops ? RunContext{} : run_context_of(state_.cluster, gpus, host),
                  .resumed = job.first_start != kNever,
                  .graceful = graceful};
  if (!stops) {
    neighbours_.clear();
    for (Slot other = job.next_co_located; other != slot;
         other = state_.jobs[other].next_co_located) {
      if (state_.jobs[other].starting()) continue;
      neighbours_.push_back(&state_.jobs[other].spec);
      if (state_.jobs[other].start_order < job.start_order) command.context.joined = true;
    }
    command.context.opportunistic = job.opportunistic;
    if (job.opportunistic) {
      for (const Slot other : state_.jobs.running()) {
        const Job& holder = state_.jobs[other];
        if (!holder.opportunistic && overlap(holder.gpus, gpus))
          neighbours_.push_back(&holder.spec);
      }
    }
    command.context.neighbours = neighbours_;
  }
  return parts_.backend->act(command, at);
}

void Engine::update_rate(Slot slot, Seconds at, CommandKind kind) {
  Job& job = state_.jobs[slot];
  const JobProgress progress = command(kind, slot, job.gpus, job.host, at, true);
  job.work = progress.work;
  job.rate = progress.rate;
  job.since = progress.since;
  job.saved_work = progress.saved_work;
  note_belief(slot);
}

void Engine::update_group_rates(Slot member, Seconds at) {
  Slot slot = member;
  do {
    if (state_.jobs[slot].running()) update_rate(slot, at);
    slot = state_.jobs[slot].next_co_located;
  } while (slot != member);
}

void Engine::launch(const PlacementDraft::Step& step, CommandKind kind) {
  const Slot slot = step.job;
  Job& job = state_.jobs[slot];
  told_[index(slot)] = turn_mark_;
  job.joined = step.co_located_with != kNoSlot;
  if (step.opportunistic) {
    job.opportunistic = true;
    ++state_.opportunistic;
  }
  ++job.launch;
  const JobProgress progress = command(kind, slot, step.gpus, step.host, state_.now, true);
  const bool begun = progress.since != kNever;
  if (begun) {
    job.ended = job.launch - 1;
  } else {
    order_launch(step, kind);
  }
  if (kind == CommandKind::kStart) {
    if (begun) job.waited_before += state_.now - job.waiting_since;
    ++state_.running;
    log(Action::kStart, step.reason, job.spec.id, step.gpus.gpus(), step.other,
        static_cast<int>(step.gpus[0].node), &step.gpus);
  } else {
    settle_held_time(job);
    const bool resize = kind == CommandKind::kResize;
    if (resize) ++job.resizes;
    log(resize ? Action::kResize : Action::kMove, step.reason, job.spec.id, step.gpus.gpus(),
        step.other, static_cast<int>(step.gpus[0].node), &step.gpus);
  }
  if (begun) job.overhead += std::max(0.0, progress.since - state_.now);
  job.gpus = step.gpus;
  job.host = step.host;
  const bool still_waits = !begun && (kind == CommandKind::kStart || job.held_since == kNever);
  job.held_since = still_waits ? kNever : state_.now;
  job.work = progress.work;
  job.rate = progress.rate;
  job.since = progress.since;
  job.saved_work = progress.saved_work;
  if (begun && job.first_start == kNever) job.first_start = state_.now;
  if (kind == CommandKind::kStart) {
    state_.jobs.set_state(slot, JobState::kRunning);
    notify(JobMoment::kStarted, slot);
  }
  note_belief(slot);
  if (!step.opportunistic) update_opportunistic_rates(step.gpus, state_.now);
}

void Engine::order_launch(const PlacementDraft::Step& step, CommandKind kind) {
  const Job& job = state_.jobs[step.job];
  const bool starts = kind == CommandKind::kStart;
  orders_.add({.kind = kind,
               .run = {job.spec.id, job.launch},
               .before = starts ? RunId{} : RunId{job.spec.id, job.launch - 1},
               .slot = step.job,
               .gpus = step.gpus,
               .host = step.host,
               .shared = step.opportunistic || job.next_co_located != step.job,
               .reason = step.reason});
}

}  // namespace muster
