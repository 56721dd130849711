// Whether those who wait wait for nothing, and what then becomes of them.
#include "engine/engine.h"

namespace muster {

bool Engine::deadlocked() {
  if (running_ > 0) {
    stalled_events_ = 0;
    stalled_turns_ = 0;
    return false;
  }
  if (idle() || parts_.source->peek() != nullptr || !parts_.source->finished()) return false;
  if (parts_.backend->has_external_events()) return false;
  ++stalled_turns_;
  if (!active().scheduling->traits().work_conserving || parts_.scaling != nullptr) {
    // It may leave GPUs idle on purpose; but if it does not say until when, not for ever.
    constexpr int kPatience = 2000;
    const bool will_act = rescaled_ || (policy_wake() > now_ && policy_wake() != kNever);
    if (stalled_turns_ < kPatience &&
        (will_act || (!stable_between_events() && parts_.pacing->length() > 0))) {
      return false;
    }
  }
  // A whole cluster will not become better; and nodes that fail and return for ever are no hope
  // after all have done so many times.
  const auto nodes = static_cast<int>(cluster_.node_count());
  return parts_.backend->next_event() == kNever || cluster_.usable_gpus() == gpus_to_hope_for() ||
         stalled_events_ > 20 * (nodes + 1);
}

int Engine::gpus_to_hope_for() const {
  const ClusterSpec& spec = cluster_.spec();
  std::vector<bool> gone(spec.nodes.size(), false);
  for (const NodeChange& change : spec.schedule) {
    gone[index(change.node)] = !change.joins && change.time <= now_;
  }
  int sum = 0;
  for (std::size_t i = 0; i < gone.size(); ++i) sum += gone[i] ? 0 : spec.nodes[i].gpus;
  return sum;
}

void Engine::give_up_waiting() {
  // One at a time, for whoever is behind it may fit once it is gone.
  while (running_ == 0 && !jobs_.waiting().empty()) {
    const PlacementDraft::Block* block = draft_.blocked();
    const Slot slot = block != nullptr ? block->request.lead() : jobs_.waiting().front();
    Job& job = jobs_[slot];
    demanded_ -= job.spec.gpus;
    job.waited_before += now_ - job.waiting_since;
    const bool ran = job.state == JobState::kPreempted;
    leave(slot, ran ? JobState::kFailed : JobState::kRefused, Reason::kNeverFits, now_);
    changed_ = true;
    decide();
  }
  if (running_ > 0) return;
  for (const Slot slot : held_) leave(slot, JobState::kRefused, Reason::kNeverFits, now_);
  held_.clear();
}

}  // namespace muster
