#include "engine/engine.h"

#include <algorithm>
#include <cassert>
#include <functional>

#include "engine/invariants.h"

namespace muster {

Engine::Engine(Parts parts)
    : parts_(std::move(parts)), cluster_(parts_.cluster), draft_(jobs_, cluster_) {
  assert(!parts_.policy_sets.empty() && parts_.backend != nullptr && parts_.source != nullptr);
  assert(parts_.policy_sets.size() == 1 || parts_.selector != nullptr);
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
         active().placement->stable_between_events();
}

void Engine::decide() {
  choose_policy_set();
  admit();
  complete_jobs();
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

void Engine::complete_jobs() {
  CompletionRule* const rule = active().scheduling->completion_rule();
  if (rule == nullptr) return;
  completions_.clear();
  rule->complete_jobs(view(), completions_);
  for (const PolicyCompletion& completion : completions_) conclude(completion);
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

void Engine::take_arrivals() {
  const JobSpec* next = nullptr;
  while ((next = parts_.source->peek()) != nullptr && next->arrival <= now_) {
    const Slot slot = jobs_.add(*next);
    parts_.source->pop();
    Job& job = jobs_[slot];
    job.spec.id = JobId{next_id_++};
    if (parts_.prices != nullptr) {
      cost_.resize(jobs_.slots(), 0);
      cost_[index(slot)] = 0;
    }
    stalled_events_ = 0;
    stalled_turns_ = 0;
    job.total_work = parts_.perf->total_work(job.spec);
    log(Action::kSubmit, Reason::kArrived, job.spec.id, job.spec.gpus);
    const bool fits =
        job.spec.gpus > 0 &&
        std::any_of(parts_.policy_sets.begin(), parts_.policy_sets.end(), [&](const PolicySet& c) {
          const bool shrinks = job.spec.elastic() && c.scheduling->traits().resizes;
          const int least = shrinks ? std::max(1, job.spec.min_gpus) : job.spec.gpus;
          return c.placement->ever_fits(cluster_, job.spec, least);
        });
    if (fits) {
      held_.push_back(slot);
    } else {
      leave(slot, JobState::kRefused, Reason::kNeverFits, now_);
    }
  }
}

void Engine::admit() {
  if (held_.empty()) return;
  std::size_t kept = 0;
  bool holding = false;
  for (const Slot slot : held_) {
    Job& job = jobs_[slot];
    AdmissionAnswer answer{Admission::kHold, Reason::kNone};
    // A queue: nobody overtakes a held job.
    if (!holding) answer = active().admission->admit(view(), Load{demanded_}, job.spec);
    switch (answer.answer) {
      case Admission::kAccept:
        job.admitted = now_;
        job.waiting_since = now_;
        job.waited_before = now_ - job.spec.submit;
        demanded_ += job.spec.gpus;
        jobs_.set_state(slot, JobState::kQueued);
        changed_ = true;
        log(Action::kAdmit, answer.reason, job.spec.id, job.spec.gpus);
        notify(JobMoment::kAdmitted, slot);
        break;
      case Admission::kHold:
        if (job.waiting_since != kNever) {
          // Logged once, when it is first made to wait.
          log(Action::kHold, holding ? Reason::kOutranked : answer.reason, job.spec.id,
              job.spec.gpus);
          job.waiting_since = kNever;
        }
        holding = true;
        held_[kept++] = slot;
        break;
      case Admission::kRefuse:
        leave(slot, JobState::kRefused, answer.reason, now_);
        break;
    }
  }
  held_.resize(kept);
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
  const bool undecided =
      !jobs_.waiting().empty() || (running_ > 0 && (traits.resizes || traits.regroups));
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
    constexpr int kPatience = 1000;
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

int Engine::used_opportunistically_alone() const {
  int sum = 0;
  for (const Slot slot : jobs_.running()) {
    const Job& job = jobs_[slot];
    for (int i = 0; job.opportunistic && i < job.gpus.nodes(); ++i) {
      sum += std::popcount(job.gpus[i].mask & cluster_.free_mask(job.gpus[i].node));
    }
  }
  return sum;
}

void Engine::look_closely(TurnStats& stats) const {
  double blocked = 0;
  for (const Slot slot : jobs_.waiting()) {
    const Job& job = jobs_[slot];
    const double left = job.remaining_at(now_);
    if (left > 0) blocked += (job.waited_before + now_ - job.waiting_since) / left;
  }
  const auto waiting = static_cast<double>(jobs_.waiting().size());
  if (waiting > 0) stats.blocking_index = blocked / waiting;
  if (stats.usable_gpus == 0) return;
  constexpr double kMillisecond = 1e-3;
  for (const Slot slot : jobs_.running()) {
    const Job& job = jobs_[slot];
    const double work = parts_.perf->total_work(job.spec);
    if (work <= 0) continue;
    const double steps_per_second = job.rate * parts_.perf->steps(job.spec) / work;
    const double part = job.gpus.gpus() / static_cast<double>(stats.usable_gpus);
    for (std::size_t i = 0; i < kStages; ++i) {
      stats.busy[i] += part * steps_per_second * job.spec.stage_ms[i] * kMillisecond;
    }
  }
}

double Engine::spend(Seconds previous) {
  const std::span<const Pool> pools = cluster_.pools();
  used_before_.resize(pools.size(), 0);
  double dollars = 0;
  for (std::size_t i = 0; i < pools.size(); ++i) {
    if (used_before_[i] > 0) {
      dollars += used_before_[i] * parts_.prices->between(pools[i].gpu_type, previous, now_);
    }
    used_before_[i] = pools[i].usable - pools[i].free;
  }
  return dollars;
}

void Engine::report_turn(Seconds previous) {
#if MUSTER_INVARIANTS
  check_invariants(*this);
#endif
  TurnStats stats;
  stats.time = now_;
  stats.previous = previous;
  stats.held = static_cast<std::int32_t>(held_.size());
  stats.waiting = static_cast<std::int32_t>(jobs_.waiting().size());
  stats.running = running_;
  stats.usable_gpus = cluster_.usable_gpus();
  stats.used_gpus = cluster_.used_gpus();
  if (opportunistic_ > 0) stats.used_gpus += used_opportunistically_alone();
  if (parts_.options.close_look) look_closely(stats);
  stats.demanded_gpus = static_cast<std::int32_t>(demanded_);
  stats.stops = stops_;
  if (parts_.prices != nullptr) stats.spent = spend(previous);
  if (planned_) {
    stats.programs = plan_.programs();
    stats.gap = plan_.gap();
  }
  stats.skipped = static_cast<std::int32_t>(started_ ? parts_.pacing->skipped(previous, now_) : 0);
  for (Observer* observer : parts_.observers) observer->on_turn(stats);
}

void Engine::log(Action action, Reason reason, JobId job, int gpus, JobId other, int detail,
                 const GpuSet* gpus_held) {
  if (parts_.observers.empty()) return;
  Decision decision;
  decision.time = now_;
  decision.job = job;
  decision.other = other;
  decision.gpus = gpus;
  decision.detail = detail;
  decision.action = action;
  decision.reason = reason;
  for (Observer* observer : parts_.observers) {
    observer->on_decision(decision);
    if (gpus_held != nullptr) observer->on_placement(decision, *gpus_held);
  }
}

void Engine::log_block() {
  const PlacementDraft::Block* block = draft_.blocked();
  if (block == nullptr) {
    last_block_ = {};
    return;
  }
  const JobId job = jobs_[block->request.lead()].spec.id;
  if (last_block_.job == job && last_block_.reason == block->reason &&
      last_block_.detail == block->free) {
    return;
  }
  last_block_.job = job;
  last_block_.reason = block->reason;
  last_block_.detail = block->free;
  log(Action::kBlock, block->reason, job, block->request.gpus, kNoJob, block->free);
}

}  // namespace muster
