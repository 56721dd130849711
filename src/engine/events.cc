// Events of launches and nodes. Every event has an answer in every state of a job; docs/engine.md
// has the table, and tests/engine/events_test.cc goes through it cell by cell.
#include <algorithm>
#include <cmath>

#include "engine/engine.h"

namespace muster {

void Engine::take_in(Seconds now, std::span<const JobEvent> events) {
  state_.now = now;
  for (const JobEvent& event : events) {
    if (!goes_on(event)) on_event(event);
  }
}

void Engine::note_progress(Job& job, const JobEvent& event) {
  job.work = std::max(event.work, 0.0);
  job.saved_work = event.saved < 0 ? job.work : event.saved;
  job.rate = job.running() ? event.rate : 0;
  job.since = event.time;
}

// Some simulators report the progress of all jobs at every turn: most events are of this kind.
bool Engine::goes_on(const JobEvent& event) {
  if (event.kind != EventKind::kProgress || event.launch != 0 || event.value > 0) return false;
  if (index(event.slot) >= state_.jobs.slots()) return false;
  Job& job = state_.jobs[event.slot];
  if (job.spec.id != event.job || !job.running() || job.starting()) return false;
  note_progress(job, event);
  note_belief(event.slot);
  return true;
}

Slot Engine::look_for(JobId id) const {
  const Slot slot = state_.jobs.find(id);
  if (slot != kNoSlot) return slot;
  for (const std::vector<Slot>* list : {&state_.held, &state_.on_hold}) {
    for (const Slot outside : *list) {
      if (state_.jobs[outside].spec.id == id) return outside;
    }
  }
  return kNoSlot;
}

void Engine::on_event(const JobEvent& event) {
  switch (event.kind) {
    case EventKind::kCancelled:
      return cancel(event);
    case EventKind::kRevised:
      return revise(event);
    case EventKind::kMetric:
      return on_metric(event);
    case EventKind::kProgress:
    case EventKind::kFinished:
    case EventKind::kFailed:
    case EventKind::kStarted:
    case EventKind::kReturned:
    case EventKind::kReleased:
      break;
    default:
      return on_node_event(event);
  }
  if (loud(event.kind)) state_.changed = true;
  const Slot slot = slot_of(event);
  if (slot == kNoSlot) return;
  const Job& job = state_.jobs[slot];
  // One that was put on hold may still be on its GPUs.
  const bool on_hold = job.state == JobState::kSubmitted && job.ended < job.launch;
  if (job.running() || job.waiting() || on_hold) on_run_event(slot, event);
}

// A word is about the present launch, about one that has been told to stop and may still be there,
// or about one that is known to be gone: then it changes nothing.
void Engine::on_run_event(Slot slot, const JobEvent& event) {
  Job& job = state_.jobs[slot];
  const bool unnumbered = event.launch == 0;
  const std::uint32_t launch = unnumbered ? job.launch : event.launch;
  const bool present = launch == job.launch && (job.running() || unnumbered);
  const bool stopping = !unnumbered && launch > job.ended && launch <= job.launch;
  if (event.kind == EventKind::kProgress) {
    if (present || (stopping && job.waiting())) on_progress(slot, event);
    return;
  }
  if (present && job.running()) {
    if (event.kind == EventKind::kStarted) {
      if (job.starting()) begin_run(slot, event);
    } else {
      on_end_of_run(slot, event);
    }
    return;
  }
  if (!stopping || event.kind == EventKind::kStarted) return;
  // One that has been replaced by a launch that runs cannot be there any more.
  if (job.running() && !job.starting()) return;
  if (event.kind == EventKind::kFinished) {
    finish_stopped(slot, event);
  } else {
    on_released(slot, event);
  }
}

// Of a job that is there, whichever launch of it spoke: a number that comes late is still true.
void Engine::on_metric(const JobEvent& event) {
  const Slot slot = slot_of(event);
  if (slot == kNoSlot) return;
  state_.metrics.set(slot, event.metric, event.value);
  const JobMetric metric{event.time, event.job, event.metric, event.value};
  for (Observer* observer : parts_.observers) observer->on_metric(metric);
}

void Engine::on_progress(Slot slot, const JobEvent& event) {
  Job& job = state_.jobs[slot];
  if (job.starting()) begin_run(slot, event);  // that word was lost
  if (event.value > 0) {
    // It has said itself how long it is: there is nothing left to outrun.
    job.total_work = event.value;
    job.spec.believed = false;
  }
  note_progress(job, event);
  note_belief(slot);
  if (job.waiting()) notify(JobMoment::kChanged, slot);
}

void Engine::on_end_of_run(Slot slot, const JobEvent& event) {
  Job& job = state_.jobs[slot];
  // An end that was kept for its turn may be older than the word of the start.
  if (later_ && !job.starting() && event.time < job.held_since) begin_earlier(job, event.time);
  switch (event.kind) {
    case EventKind::kFinished: {
      if (job.starting()) begin_run(slot, event);
      const Seconds end = parts_.pacing->end_of(event.time, state_.now);
      job.since = event.time;
      return finish(slot, end, end);
    }
    case EventKind::kFailed:
      if (job.starting()) begin_run(slot, event);
      job.ended = job.launch;
      return crash(slot, event.time);
    default:
      return return_run(slot, event);
  }
}

void Engine::end_wait(Job& job, Seconds at) {
  job.failed_starts = 0;
  if (job.held_since == kNever) {
    job.waited_before += at - job.waiting_since;
    job.held_since = at;
    if (job.first_start == kNever) job.first_start = at;
  } else {
    job.overhead += at - job.held_since;  // it moved, and stood still meanwhile
  }
}

void Engine::begin_earlier(Job& job, Seconds at) {
  job.waited_before -= job.held_since - at;
  if (job.first_start == job.held_since) job.first_start = at;
  job.held_since = at;
}

void Engine::begin_run(Slot slot, const JobEvent& event) {
  Job& job = state_.jobs[slot];
  end_wait(job, event.time);
  if (const double kept = kept_work(event); kept >= 0) job.work = job.saved_work = kept;
  job.since = event.time;
  job.ended = job.launch - 1;
  update_group_rates(slot, event.time);
  if (!job.opportunistic) update_opportunistic_rates(job.gpus, event.time);
  if (job.since != kNever) job.overhead += std::max(0.0, job.since - event.time);
}

// It never came up, or it did and was lost. Neither is the job's fault.
void Engine::return_run(Slot slot, const JobEvent& event) {
  Job& job = state_.jobs[slot];
  const bool came_up = !job.starting();
  const double kept = kept_work(event) < 0 ? job.saved_work : kept_work(event);
  const std::uint32_t failed = ++job.failed_starts;
  job.ended = job.launch;
  halt(slot, came_up ? Reason::kRunLost : Reason::kStartFailed, kNoJob,
       {.at = event.time, .graceful = false, .release = true, .asks = false, .work = kept});
  if (came_up) {
    ++job.restarts;
    job.failed_starts = 0;
    return;
  }
  const RetryRule& retry = parts_.options.retry;
  const Seconds pause = std::min(retry.most, std::ldexp(retry.first, static_cast<int>(failed) - 1));
  state_.back_offs.push_back({state_.now + pause, slot});
}

// The wait began when it was told to stop; saving its work was a cost.
void Engine::on_released(Slot slot, const JobEvent& event) {
  Job& job = state_.jobs[slot];
  const std::uint32_t launch = event.launch;
  job.ended = launch;
  const bool waits = job.waiting() || job.held_since == kNever;
  if (waits && job.first_start != kNever)
    job.overhead += std::max(0.0, event.time - job.waiting_since);
  const double kept = kept_work(event);
  if (kept < 0 || kept == job.work) return;
  job.lost_work += std::max(0.0, job.work - kept);
  job.work = job.saved_work = kept;
  note_belief(slot);
  if (!job.waiting()) return;
  state_.changed = true;
  notify(JobMoment::kChanged, slot);
}

// It was done before it could be stopped. A launch that was to follow is taken back.
void Engine::finish_stopped(Slot slot, const JobEvent& event) {
  Job& job = state_.jobs[slot];
  if (job.state == JobState::kSubmitted) {
    std::erase(state_.on_hold, slot);
    std::erase(state_.held, slot);
  } else {
    state_.demanded -= job.spec.gpus;
  }
  if (job.running()) {
    halt(slot, Reason::kCompleted, kNoJob, {.at = state_.now, .graceful = false, .release = true});
  }
  job.ended = job.launch;
  job.waited_before += std::max(0.0, event.time - job.waiting_since);
  if (job.first_start == kNever) job.first_start = event.time;
  job.work = job.total_work;
  const Seconds end = parts_.pacing->end_of(event.time, state_.now);
  leave(slot, JobState::kFinished, Reason::kCompleted, end, end);
}

void Engine::on_node_event(const JobEvent& event) {
  state_.changed = true;
  const auto node = static_cast<int>(event.node);
  switch (event.kind) {
    case EventKind::kNodeAdded:
      std::erase(state_.removed, event.node);
      [[fallthrough]];
    case EventKind::kNodeUp:
      ++state_.stalled_events;
      if (state_.cluster.up(event.node)) return;
      state_.cluster.set_up(event.node, true);
      return log(Action::kNodeUp, Reason::kNodeReturned, kNoJob, 0, kNoJob, node);
    case EventKind::kGpuUp:
      ++state_.stalled_events;
      return state_.cluster.set_healthy(event.node, event.gpu, true);
    case EventKind::kNodeRemoved:
      state_.removed.push_back(event.node);
      return on_node_down(event, Reason::kNodeLost);
    case EventKind::kNodeDown:
      return on_node_down(event, Reason::kNodeLost);
    case EventKind::kGpuDown:
      return on_node_down(event, Reason::kGpuLost);
    default: {
      const bool drain = event.kind == EventKind::kDrained;
      if (state_.cluster.drained(event.node) == drain) return;
      state_.cluster.set_drained(event.node, drain);
      log(drain ? Action::kDrain : Action::kUndrain, Reason::kRequested, kNoJob, 0, kNoJob, node);
    }
  }
}

void Engine::on_node_down(const JobEvent& event, Reason reason) {
  const NodeId node = event.node;
  const int gpu = event.gpu;
  if (gpu < 0 && !state_.cluster.up(node)) return;  // it left after it had failed
  log(Action::kNodeDown, reason, kNoJob, 0, kNoJob, static_cast<int>(node));
  const std::uint64_t lost = gpu < 0 ? ~std::uint64_t{0} : std::uint64_t{1} << gpu;
  std::vector<Slot> hit;
  for (const Slot slot : state_.jobs.active()) {
    const Job& job = state_.jobs[slot];
    for (int i = 0; job.running() && i < job.gpus.nodes(); ++i) {
      if (job.gpus[i].node == node && (job.gpus[i].mask & lost) != 0) {
        hit.push_back(slot);
        break;
      }
    }
  }
  for (const Slot slot : hit) {
    halt(slot, reason, kNoJob, {.at = event.time, .graceful = false, .release = true});
    ++state_.jobs[slot].restarts;
  }
  if (gpu < 0) {
    state_.cluster.set_up(node, false);
  } else {
    state_.cluster.set_healthy(node, gpu, false);
  }
}

}  // namespace muster
