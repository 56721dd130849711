// The deadlock check: whether waiting jobs can ever start, and what happens to them if not.
//
// If a policy is work-conserving, or stable between events without a wake-up of its own, the check
// is exact: nothing runs, no job arrives, so the policy would decide the same at every later turn.
// A policy that may leave GPUs idle on purpose, and whose plan changes with time alone, cannot be
// proved to be stuck, because its own state is unknown here. It is asked again, turn by turn. After
// kPatience turns in a row in which nothing ran and no job arrived it counts as stuck; with turns
// of a minute that is a day and a half of an idle cluster. The engine also waits for a wake-up that
// lies ahead.
#include "engine/engine.h"

namespace muster {

bool Engine::deadlocked() {
  if (state_.running > 0) {
    state_.stalled_events = 0;
    state_.stalled_turns = 0;
    return false;
  }
  if (!state_.back_offs.empty()) return false;
  if (idle() || parts_.source->peek() != nullptr || !parts_.source->finished()) return false;
  if (parts_.backend->has_external_events()) return false;
  ++state_.stalled_turns;
  if (!known().traits.work_conserving || parts_.scaling != nullptr) {
    constexpr int kPatience = 2000;
    const bool will_act =
        state_.rescaled || (policy_wake() > state_.now && policy_wake() != kNever);
    if (state_.stalled_turns < kPatience && (will_act || (!known().stable && turn_length_ > 0))) {
      return false;
    }
  }
  // A whole cluster will not become better; and nodes that fail and return for ever are no hope
  // after all have done so many times.
  const auto nodes = static_cast<int>(state_.cluster.node_count());
  return parts_.backend->next_event() == kNever ||
         state_.cluster.usable_gpus() == gpus_to_hope_for() ||
         state_.stalled_events > 20 * (nodes + 1);
}

int Engine::gpus_to_hope_for() const {
  const ClusterSpec& spec = state_.cluster.spec();
  std::vector<bool> gone(spec.nodes.size(), false);
  for (const NodeChange& change : spec.schedule) {
    gone[index(change.node)] = !change.joins && change.time <= state_.now;
  }
  for (const NodeId node : state_.removed) gone[index(node)] = true;
  int sum = 0;
  for (std::size_t i = 0; i < gone.size(); ++i) {
    // A person may have put back one that the schedule had taken away.
    const bool there = !gone[i] || state_.cluster.up(NodeId{static_cast<std::uint32_t>(i)});
    sum += there ? spec.nodes[i].gpus : 0;
  }
  return sum;
}

void Engine::give_up_waiting() {
  // One at a time, because the job behind it may fit once it is gone.
  while (state_.running == 0 && !state_.jobs.waiting().empty()) {
    const PlacementDraft::Block* block = draft_.blocked();
    const Slot slot = block != nullptr ? block->request.lead() : state_.jobs.waiting().front();
    Job& job = state_.jobs[slot];
    state_.demanded -= job.spec.gpus;
    job.waited_before += state_.now - job.waiting_since;
    const bool ran = job.state == JobState::kPreempted;
    leave(slot, ran ? JobState::kFailed : JobState::kRefused, Reason::kNeverFits, state_.now);
    state_.changed = true;
    decide();
  }
  if (state_.running > 0) return;
  for (const Slot slot : state_.held) leave_held(slot, JobState::kRefused, Reason::kNeverFits);
  state_.held.clear();
}

}  // namespace muster
