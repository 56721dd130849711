// What the backend reported since the last turn.
#include <algorithm>

#include "engine/engine.h"

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

}  // namespace muster
