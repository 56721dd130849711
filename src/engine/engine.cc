#include "engine/engine.h"

#include <algorithm>
#include <cassert>

namespace muster {

Engine::Engine(Parts parts)
    : parts_(std::move(parts)), cluster_(parts_.cluster), draft_(jobs_, cluster_) {
  assert(!parts_.policy_sets.empty() && parts_.backend != nullptr && parts_.source != nullptr);
  assert(parts_.policy_sets.size() == 1 || parts_.selector != nullptr);
  cluster_.count_host(parts_.options.count_host);
}

View Engine::view() const {
  return {now_,
          parts_.pacing->length(),
          jobs_,
          cluster_,
          *parts_.perf,
          parts_.forecast.get(),
          active().scheduling->promises()};
}

Status Engine::run(const std::function<bool()>& keep_going) {
  while (turn()) {
    if (keep_going && !keep_going()) break;
  }
  if (auto error = parts_.source->error()) return *error;
  return Done{};
}

bool Engine::turn() {
  if (over_) return false;
  if (!started_) {
    const JobSpec* first = parts_.source->peek();
    if (first == nullptr && parts_.source->finished()) {
      over_ = true;
      return false;
    }
    next_ = first != nullptr ? parts_.pacing->first_turn(first->arrival) : kNever;
    now_ = next_ == kNever ? 0 : std::min(next_, 0.0);
  }
  Seconds previous = now_;
  observe(next_);
  if (!started_) previous = now_;
  take_arrivals();
  decide();
  scale();
  // Where turns have no length there is no next one to wait for.
  if (rescaled_ && parts_.pacing->length() == 0) decide();
  if (deadlocked()) give_up_waiting();
  turns_ += 1 + (started_ ? parts_.pacing->skipped(previous, now_) : 0);
  report_turn(previous);
  started_ = true;
  next_ = next_turn();
  return !over_;
}

bool Engine::stable_between_events() const {
  return active().scheduling->traits().stable_between_events &&
         active().placement->traits().stable_between_events;
}

void Engine::decide() {
  choose_policy_set();
  admit();
  // Who leaves here makes room for held jobs, and may have been the last to wake us.
  while (complete_jobs() && !held_.empty()) admit();
  stops_ = 0;
  planned_ = false;
  if (!changed_ && stable_between_events() && now_ < wake_) return;
  changed_ = false;
  planned_ = true;
  const SchedulingTraits traits = active().scheduling->traits();
  Plan::Depth depth = active().placement->depth(cluster_, traits);
  if (depth == Plan::Depth::kUntilFirstMisfit && !active().scheduling->repeats()) {
    depth = Plan::Depth::kAll;
  }
  plan(traits, depth);
  if (draft_.wants_all()) plan(traits, Plan::Depth::kAll);
  carry_out();
  parts_.backend->planned(plan_);
  log_block();
}

void Engine::plan(const SchedulingTraits& traits, Plan::Depth depth) {
  plan_.reset(traits.preemptive ? cluster_.usable_gpus() : cluster_.free_gpus(), depth);
  draft_.reset();
  if (jobs_.active().empty()) return;
  active().scheduling->schedule(view(), plan_);
  active().placement->place(view(), traits, plan_, draft_);
}

bool Engine::complete_jobs() {
  CompletionRule* const rule = active().scheduling->completion_rule();
  if (rule == nullptr) return false;
  completions_.clear();
  rule->complete_jobs(view(), completions_);
  for (const PolicyCompletion& completion : completions_) conclude(completion);
  return !completions_.empty();
}

void Engine::scale() {
  rescaled_ = false;
  if (parts_.scaling == nullptr) return;
  for (const PowerRequest& request : parts_.scaling->scale(view())) {
    const bool idle_node = cluster_.free_on(request.node) == cluster_.node(request.node).gpus;
    if (cluster_.up(request.node) == request.on || (!request.on && !idle_node)) continue;
    cluster_.set_up(request.node, request.on);
    log(request.on ? Action::kNodeUp : Action::kNodeDown, Reason::kScaled, kNoJob, 0, kNoJob,
        static_cast<int>(request.node));
    changed_ = true;
    rescaled_ = true;
  }
}

void Engine::choose_policy_set() {
  if (parts_.selector == nullptr) return;
  const std::size_t chosen = parts_.selector->select(view(), active_, *this);
  assert(chosen < parts_.policy_sets.size());
  if (chosen == active_) return;
  active_ = chosen;
  changed_ = true;
  log(Action::kSwitch, Reason::kPredictedBest, kNoJob, 0, kNoJob, static_cast<int>(chosen));
}

Seconds Engine::next_turn() {
  const JobSpec* next = parts_.source->peek();
  const bool no_more = next == nullptr && parts_.source->finished();
  if (no_more && idle()) over_ = true;
  if (parts_.options.until_left) {
    const auto [first, last] = *parts_.options.until_left;
    if (tracked_left_ == static_cast<long long>(index(last) - index(first)) + 1) over_ = true;
  }
  if (over_) return kNever;
  Moments moments;
  moments.now = now_;
  moments.next_arrival = next != nullptr ? next->arrival : kNever;
  moments.last_arrival = next != nullptr && !parts_.source->more_after(next->arrival);
  moments.next_event = parts_.backend->next_event();
  moments.active = !idle();
  wake_ = policy_wake();
  // A node that was just powered up is there for the next turn.
  if (rescaled_ && parts_.pacing->length() > 0)
    wake_ = std::min(wake_, now_ + parts_.pacing->length());
  if (wake_ <= now_) wake_ = kNever;  // that was this turn
  moments.wake = wake_;
  // On a backend that can surprise, a running job may be done by the next turn, whatever is known.
  const bool has_external_events = parts_.backend->has_external_events();
  const SchedulingTraits traits = active().scheduling->traits();
  const bool undecided = !jobs_.waiting().empty() || (running_ > 0 && traits.needs_periodic_turns);
  moments.needs_periodic_turns =
      (has_external_events && running_ > 0) ||
      (parts_.selector != nullptr ? moments.active : undecided && !stable_between_events());
  const Seconds at = parts_.pacing->next_turn(moments);
  if (at == kNever ? no_more && !has_external_events : at > parts_.options.until) over_ = true;
  return at;
}

Seconds Engine::policy_wake() const {
  Seconds wake = std::min(active().scheduling->wake(view()), active().placement->wake(view()));
  if (parts_.scaling != nullptr) wake = std::min(wake, parts_.scaling->wake(view()));
  return wake;
}

}  // namespace muster
