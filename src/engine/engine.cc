#include "engine/engine.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace muster {

Engine::Engine(Parts parts)
    : parts_(std::move(parts)),
      state_(parts_.cluster),
      later_(parts_.backend->answers_later()),
      numbered_(parts_.source->numbers_jobs()),
      turn_length_(parts_.pacing->length()),
      draft_(state_.jobs, state_.cluster) {
  assert(!parts_.policy_sets.empty() && parts_.source != nullptr);
  assert(parts_.policy_sets.size() == 1 || parts_.selector != nullptr);
  assert(parts_.active < parts_.policy_sets.size());
  state_.active = parts_.active;
  state_.cluster.count_host(parts_.options.count_host);
  state_.metrics = JobMetrics(parts_.metrics, parts_.metric_names);
  ask_policies();
}

void Engine::ask_policies() {
  known_.clear();
  for (const PolicySet& set : parts_.policy_sets) {
    const SchedulingTraits traits = set.scheduling->traits();
    const bool stable =
        traits.stable_between_events && set.placement->traits().stable_between_events;
    known_.push_back({traits, stable, set.scheduling->promises()});
  }
  minds_lengths_ = minds_lengths();
}

View Engine::view() const {
  return {state_.now,         turn_length_,
          state_.jobs,        state_.cluster,
          *parts_.perf,       parts_.forecast.get(),
          known().promises,   parts_.metrics.empty() ? nullptr : &state_.metrics,
          parts_.prices.get()};
}

Status Engine::run(const std::function<bool()>& keep_going) {
  while (turn()) {
    if (keep_going && !keep_going()) break;
  }
  if (auto error = parts_.source->error()) return *error;
  return Done{};
}

bool Engine::begin() {
  const JobSpec* first = parts_.source->peek();
  if (first == nullptr && parts_.source->finished()) {
    state_.over = true;
    return false;
  }
  state_.next = first != nullptr ? parts_.pacing->first_turn(first->arrival) : kNever;
  return true;
}

Due Engine::due() {
  if (state_.over || (!state_.started && !begin())) return {};
  return {state_.next, turn_length_ == 0};
}

bool Engine::turn() {
  if (state_.over || (!state_.started && !begin())) return false;
  const Seconds now = later_ ? wait_for_answers() : wait();
  return turn_at(now, events_);
}

void Engine::apply(Seconds now, std::span<const JobEvent> events) {
  // What the last turn stopped is no news: to ask again whenever one of its commands is answered
  // would regroup jobs for ever that take long to start.
  const bool changed = std::exchange(state_.changed, false);
  take_in(now, events);
  outgrow_beliefs();
  state_.undecided = state_.undecided || state_.changed;
  state_.changed = state_.changed || changed;
  dispatch();
  if (state_.started) state_.next = next_turn(true);
}

bool Engine::turn_at(Seconds now, std::span<const JobEvent> events) {
  if (state_.over) return false;
  const Seconds previous = state_.started ? state_.turned : now;
  kept_since_ = kNever;
  take_in(now, events);
  outgrow_beliefs();
  take_arrivals();
  decide();
  scale();
  // Where turns have no length there is no next one to wait for.
  if (state_.rescaled && turn_length_ == 0) decide();
  if (deadlocked()) give_up_waiting();
  dispatch();
  state_.undecided = false;
  const long long skipped = state_.started ? parts_.pacing->skipped(previous, state_.now) : 0;
  state_.turns += 1 + skipped;
  report_turn(previous, skipped);
  state_.started = true;
  state_.turned = state_.now;
  state_.next = next_turn();
  return !state_.over;
}

void Engine::dispatch() {
  if (orders_.empty()) return;
  parts_.backend->dispatch(orders_.sorted(), state_.now);
  orders_.clear();
}

void Engine::decide() {
  if (!state_.back_offs.empty()) end_back_offs();
  choose_policy_set();
  admit();
  // A job that leaves here frees GPUs for held jobs, and may have been the last to wake us.
  while (complete_jobs() && !state_.held.empty()) admit();
  stops_ = 0;
  planned_ = false;
  if (!state_.changed && known().stable && state_.now < state_.wake) return;
  const SchedulingTraits& traits = known().traits;
  calm_ = parts_.options.calm > 0 && keeps_calm(traits);
  if (calm_ && state_.running > 0 && state_.cluster.free_gpus() == 0) return;
  state_.changed = false;
  planned_ = true;
  Plan::Depth depth = active().placement->depth(state_.cluster, traits);
  if (depth == Plan::Depth::kUntilFirstMisfit && !traits.repeats) {
    depth = Plan::Depth::kAll;
  }
  if (!state_.back_offs.empty()) depth = Plan::Depth::kAll;  // some requests will be dropped
  plan(traits, depth);
  if (draft_.wants_all()) plan(traits, Plan::Depth::kAll);
  carry_out();
  if (calm_) state_.changed = true;  // jobs that were to be displaced are still there
  parts_.backend->planned(plan_);
  log_block();
}

void Engine::plan(const SchedulingTraits& traits, Plan::Depth depth) {
  plan_.reset(traits.preemptive ? state_.cluster.usable_gpus() : state_.cluster.free_gpus(), depth);
  draft_.reset();
  if (state_.jobs.active().empty()) return;
  const View seen = view();
  active().scheduling->schedule(seen, plan_);
  if (!state_.back_offs.empty()) {
    plan_.drop([this](Slot job) { return backs_off(job); });
  }
  if (!calm_) return active().placement->place(seen, traits, plan_, draft_);
  plan_.drop([this](Slot job) { return state_.jobs[job].running(); });
  SchedulingTraits fills = traits;
  fills.preemptive = false;
  active().placement->place(seen, fills, plan_, draft_);
}

bool Engine::keeps_calm(const SchedulingTraits& traits) {
  // The plans of others are more than an order of which free GPUs could take any part.
  if (!traits.preemptive || !traits.work_conserving || traits.co_locates || traits.resizes) {
    return false;
  }
  if (state_.now < calm_until_) return true;
  const EngineOptions& options = parts_.options;
  calm_until_ = state_.now + options.calm * (state_.now - options.calm_since);
  return false;
}

void Engine::end_back_offs() {
  const auto over = [this](const BackOff& one) { return one.until <= state_.now; };
  if (std::erase_if(state_.back_offs, over) > 0) state_.changed = true;
}

bool Engine::backs_off(Slot job) const {
  return std::any_of(state_.back_offs.begin(), state_.back_offs.end(),
                     [job](const BackOff& one) { return one.slot == job; });
}

bool Engine::complete_jobs() {
  if (!known().traits.ends_jobs) return false;
  completions_.clear();
  active().scheduling->completion_rule()->complete_jobs(view(), completions_);
  for (const PolicyCompletion& completion : completions_) conclude(completion);
  return !completions_.empty();
}

void Engine::scale() {
  state_.rescaled = false;
  if (parts_.scaling == nullptr) return;
  for (const PowerRequest& request : parts_.scaling->scale(view())) {
    const bool idle_node =
        state_.cluster.free_on(request.node) == state_.cluster.node(request.node).gpus;
    if (state_.cluster.up(request.node) == request.on || (!request.on && !idle_node)) continue;
    state_.cluster.set_up(request.node, request.on);
    log(request.on ? Action::kNodeUp : Action::kNodeDown, Reason::kScaled, kNoJob, 0, kNoJob,
        static_cast<int>(request.node));
    state_.changed = true;
    state_.rescaled = true;
  }
}

void Engine::choose_policy_set() {
  if (parts_.selector == nullptr) return;
  const std::size_t chosen = parts_.selector->select(view(), state_.active, *this);
  assert(chosen < parts_.policy_sets.size());
  if (chosen == state_.active) return;
  state_.active = chosen;
  state_.changed = true;
  log(Action::kSwitch, Reason::kPredictedBest, kNoJob, 0, kNoJob, static_cast<int>(chosen));
}

Seconds Engine::next_turn(bool news) {
  const JobSpec* next = parts_.source->peek();
  const bool no_more = next == nullptr && parts_.source->finished();
  // What is kept is worth the next turn on the grid, whatever else is known to come.
  const bool keeps = kept_since_ != kNever;
  if (no_more && idle() && !keeps) state_.over = true;
  if (parts_.options.until_left) {
    const auto [first, last] = *parts_.options.until_left;
    if (state_.tracked_left == static_cast<long long>(index(last) - index(first)) + 1)
      state_.over = true;
  }
  if (state_.over) return kNever;
  Moments moments;
  moments.now = state_.now;
  moments.next_arrival = next != nullptr ? next->arrival : kNever;
  moments.last_arrival = next != nullptr && !parts_.source->more_after(next->arrival);
  moments.next_event = std::min(kept_since_, parts_.backend->next_event());
  moments.active = !idle();
  state_.wake = policy_wake();
  for (const BackOff& one : state_.back_offs) state_.wake = std::min(state_.wake, one.until);
  // A node that was just powered up is there for the next turn.
  if (state_.rescaled && turn_length_ > 0)
    state_.wake = std::min(state_.wake, state_.now + turn_length_);
  if (!news && state_.wake <= state_.now) state_.wake = kNever;  // that was this turn
  // Running jobs keep their GPUs until then, whatever a policy plans.
  if (calm_) state_.wake = std::max(state_.wake, calm_until_);
  moments.wake =
      minds_lengths_ ? std::min(state_.wake, state_.overruns.next(state_.jobs)) : state_.wake;
  // With external events, a running job may end before the next turn, whatever is known.
  const bool has_external_events = parts_.backend->has_external_events();
  const bool undecided =
      !state_.jobs.waiting().empty() || (state_.running > 0 && known().traits.needs_periodic_turns);
  moments.needs_periodic_turns =
      (has_external_events && state_.running > 0) ||
      (parts_.selector != nullptr ? moments.active : undecided && !known().stable);
  if (news && state_.undecided) {
    if (turn_length_ == 0) return state_.now;
    moments.needs_periodic_turns = true;
  }
  const Seconds at = parts_.pacing->next_turn(moments);
  if (at == kNever ? no_more && !has_external_events : at > parts_.options.until)
    state_.over = true;
  return at;
}

Seconds Engine::policy_wake() const {
  const View seen = view();
  Seconds wake = std::min(active().scheduling->wake(seen), active().placement->wake(seen));
  if (parts_.scaling != nullptr) wake = std::min(wake, parts_.scaling->wake(seen));
  return wake;
}

}  // namespace muster
