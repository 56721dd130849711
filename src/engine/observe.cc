// Waiting for the next turn, if the backend passes the time.
#include <algorithm>

#include "engine/engine.h"

namespace muster {

Seconds Engine::wait() {
  events_.clear();
  const bool stop_at_event = turn_length_ == 0;
  Seconds reached = parts_.backend->advance(state_.next, stop_at_event, events_);
  if (state_.next == kNever && !stop_at_event && parts_.backend->has_external_events()) {
    // Something unforeseen ended an open wait; its turn is the next one on the grid.
    Moments woken;
    woken.now = reached;
    woken.needs_periodic_turns = true;
    reached = parts_.backend->advance(parts_.pacing->next_turn(woken), stop_at_event, events_);
  }
  return reached;
}

// Something has happened in the backend, such as the end of a job, of which the report is still on
// its way. It is no reason for a turn, which would know more than is known: the wait goes on.
bool Engine::passes_unheard(Seconds reached) {
  if (!state_.started || state_.undecided || reached < state_.next) return false;
  const JobSpec* next = parts_.source->peek();
  const bool arrives = next != nullptr && next->arrival <= reached;
  const bool outruns = minds_lengths_ && state_.overruns.next(state_.jobs) <= reached;
  if (arrives || outruns || state_.wake <= reached) return false;
  state_.now = reached;
  state_.next = next_turn(true);
  return !state_.over && state_.next > reached;
}

// A launch that has begun is answered at once: only then does the backend know how it goes on. The
// rest is kept for the turn, which is then no later than the next one on the grid.
Seconds Engine::wait_for_answers() {
  const bool stop_at_event = turn_length_ == 0;
  const auto quiet = [](const JobEvent& event) { return !loud(event.kind); };
  events_.clear();
  kept_since_ = kNever;
  while (true) {
    const auto seen = static_cast<std::ptrdiff_t>(events_.size());
    const Seconds reached = parts_.backend->advance(state_.next, stop_at_event, events_);
    const auto fresh = events_.begin() + seen;
    if (fresh == events_.end()) {
      if (stop_at_event && passes_unheard(reached)) continue;
      return reached;
    }
    const bool all_quiet = std::all_of(fresh, events_.end(), quiet);
    const JobSpec* next = parts_.source->peek();
    const bool arrives = next != nullptr && next->arrival <= reached;
    const bool due = reached >= state_.next &&
                     (!stop_at_event || arrives || state_.wake <= reached || !all_quiet);
    if (due || (stop_at_event && !all_quiet)) return reached;
    quiet_.clear();
    std::copy_if(fresh, events_.end(), std::back_inserter(quiet_), quiet);
    events_.erase(std::remove_if(fresh, events_.end(), quiet), events_.end());
    if (kept_since_ == kNever && !events_.empty()) kept_since_ = reached;
    if (state_.started) {
      apply(reached, quiet_);
    } else {
      take_in(reached, quiet_);
    }
    if (state_.over) return reached;
  }
}

}  // namespace muster
