// The half of the engine that changes jobs: what the backend reported, and what the draft asks for.
#include <algorithm>
#include <cassert>

#include "engine/engine.h"
#include "model/record_of.h"

namespace muster {

void Engine::observe(Seconds until) {
  events_.clear();
  const bool stop_at_event = parts_.pacing->length() == 0;
  now_ = parts_.backend->advance(until, stop_at_event, events_);
  if (until == kNever && !stop_at_event && parts_.backend->has_external_events()) {
    // Something unforeseen ended an open wait; its turn is the next one on the grid.
    Moments woken;
    woken.now = now_;
    woken.needs_periodic_turns = true;
    now_ = parts_.backend->advance(parts_.pacing->next_turn(woken), stop_at_event, events_);
  }
  for (const JobEvent& event : events_) on_event(event);
}

void Engine::on_event(const JobEvent& event) {
  changed_ = true;
  switch (event.kind) {
    case EventKind::kNodeUp:
      ++stalled_events_;
      if (cluster_.up(event.node)) return;
      cluster_.set_up(event.node, true);
      log(Action::kNodeUp, Reason::kNodeReturned, kNoJob, 0, kNoJob, static_cast<int>(event.node));
      return;
    case EventKind::kGpuUp:
      ++stalled_events_;
      cluster_.set_healthy(event.node, event.gpu, true);
      return;
    case EventKind::kNodeDown:
      on_node_down(event, Reason::kNodeLost);
      return;
    case EventKind::kGpuDown:
      on_node_down(event, Reason::kGpuLost);
      return;
    case EventKind::kProgress:
    case EventKind::kFinished:
    case EventKind::kFailed:
      break;
  }
  // A late word about a job that has left, or lost its GPUs meanwhile, changes nothing.
  if (index(event.slot) >= jobs_.slots() || jobs_[event.slot].spec.id != event.job) return;
  Job& job = jobs_[event.slot];
  if (event.kind == EventKind::kProgress) {
    if (!job.running() && !job.waiting()) return;
    job.work = std::max(event.work, 0.0);
    job.saved_work = job.work;
    job.rate = job.running() ? event.rate : 0;
    job.since = event.time;
    if (job.waiting()) notify(JobMoment::kChanged, event.slot);
    return;
  }
  if (!job.running()) return;
  if (event.kind == EventKind::kFinished) {
    const Seconds end = parts_.pacing->end_of(event.time, now_);
    job.since = event.time;
    finish(event.slot, end, end);
  } else {
    crash(event.slot, event.time);
  }
}

void Engine::on_node_down(const JobEvent& event, Reason reason) {
  const NodeId node = event.node;
  const int gpu = event.gpu;
  if (gpu < 0 && !cluster_.up(node)) return;  // it left after it had failed
  log(Action::kNodeDown, reason, kNoJob, 0, kNoJob, static_cast<int>(node));
  const std::uint64_t lost = gpu < 0 ? ~std::uint64_t{0} : std::uint64_t{1} << gpu;
  std::vector<Slot> hit;
  for (const Slot slot : jobs_.active()) {
    const Job& job = jobs_[slot];
    for (int i = 0; job.running() && i < job.gpus.nodes(); ++i) {
      if (job.gpus[i].node == node && (job.gpus[i].mask & lost) != 0) {
        hit.push_back(slot);
        break;
      }
    }
  }
  for (const Slot slot : hit) {
    halt(slot, reason, kNoJob, {.at = event.time, .graceful = false, .release = true});
    ++jobs_[slot].restarts;
  }
  if (gpu < 0) {
    cluster_.set_up(node, false);
  } else {
    cluster_.set_healthy(node, gpu, false);
  }
}

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
  leave(completion.job, completion.state, completion.reason, completion.end, completion.done);
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

void Engine::update_group_rates(Slot member, Seconds at) {
  Slot slot = member;
  do {
    Job& job = jobs_[slot];
    if (job.running()) {
      const JobProgress progress =
          command(CommandKind::kUpdateRate, slot, job.gpus, job.host, at, true);
      job.work = progress.work;
      job.rate = progress.rate;
      job.since = progress.since;
      job.saved_work = progress.saved_work;
    }
    slot = job.next_co_located;
  } while (slot != member);
}

void Engine::launch(const PlacementDraft::Step& step, CommandKind kind) {
  const Slot slot = step.job;
  Job& job = jobs_[slot];
  job.start_order = ++starts_;
  job.joined = step.co_located_with != kNoSlot;
  if (step.opportunistic) {
    job.opportunistic = true;
    ++opportunistic_;
  }
  if (job.joined) {
    job.next_co_located = jobs_[step.co_located_with].next_co_located;
    jobs_[step.co_located_with].next_co_located = slot;
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
  if (step.co_located_with != kNoSlot) update_group_rates(step.co_located_with, now_);
  if (!step.opportunistic) update_opportunistic_rates(step.gpus, now_);
}

void Engine::carry_out() {
  if (draft_.whole()) {
    rearrange();
    return;
  }
  const std::vector<PlacementDraft::Step>& steps = draft_.steps();
  // A job may be stopped and started again in one draft: what counts is how it ends up.
  final_step_.resize(jobs_.slots());
  for (std::uint32_t i = 0; i < steps.size(); ++i) final_step_[index(steps[i].job)] = i;
  const auto is_final = [&](std::uint32_t i) { return final_step_[index(steps[i].job)] == i; };
  // Stops come first, so that a backend never sees a GPU in two hands.
  for (std::uint32_t i = 0; i < steps.size(); ++i) {
    const PlacementDraft::Step& step = steps[i];
    if (step.kind != PlacementDraft::Kind::kStop) continue;
    Job& job = jobs_[step.job];
    if (parts_.options.preemptions.passing_stops || is_final(i)) {
      ++job.preemptions;
      ++stops_;
    }
    if (is_final(i) && job.running()) halt(step.job, step.reason, step.other, {.at = now_});
  }
  for (std::uint32_t i = 0; i < steps.size(); ++i) {
    const PlacementDraft::Step& step = steps[i];
    if (step.kind != PlacementDraft::Kind::kStart || !is_final(i) || !jobs_[step.job].running())
      continue;
    Job& job = jobs_[step.job];
    if (step.gpus == job.gpus && step.co_located_with == kNoSlot) continue;
    unlink(step.job, now_);
    const bool resize = step.gpus.gpus() != job.gpus.gpus();
    if (!resize && parts_.options.preemptions.moves) {
      ++job.preemptions;
      ++stops_;
    }
    launch(step, resize ? CommandKind::kResize : CommandKind::kMove);
  }
  for (std::uint32_t i = 0; i < steps.size(); ++i) {
    const PlacementDraft::Step& step = steps[i];
    if (step.kind != PlacementDraft::Kind::kStart || !is_final(i) || !jobs_[step.job].waiting())
      continue;
    launch(step, CommandKind::kStart);
  }
  for (const PlacementDraft::Rehost& rehost : draft_.rehosts()) {
    Job& job = jobs_[rehost.job];
    if (!job.running()) continue;
    job.host = rehost.host;
    update_group_rates(rehost.job, now_);
  }
}

}  // namespace muster
