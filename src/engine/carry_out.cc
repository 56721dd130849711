// Carrying out a draft. Its steps are netted first, so that a job gets one command per turn however
// often the draft touched it: stops, then moves and resizes, then starts, and last new rates for
// jobs that stay in place but are co-located with other jobs than before.
#include <cassert>

#include "engine/engine.h"

namespace muster {

void Engine::carry_out() {
  ++turn_mark_;
  stop_and_sort();
  regroup();
  const std::vector<PlacementDraft::Step>& steps = draft_.steps();
  for (const std::uint32_t i : movers_) state_.jobs[steps[i].job].start_order = ++state_.starts;
  for (const std::uint32_t i : starters_) state_.jobs[steps[i].job].start_order = ++state_.starts;
  for (const std::uint32_t i : movers_) {
    const bool resize = steps[i].gpus.gpus() != state_.jobs[steps[i].job].gpus.gpus();
    launch(steps[i], resize ? CommandKind::kResize : CommandKind::kMove);
  }
  for (const std::uint32_t i : starters_) launch(steps[i], CommandKind::kStart);
  for (const Slot slot : regrouped_) {
    // A job that was launched knows its neighbours already.
    if (!state_.jobs[slot].running() || told_[index(slot)] == turn_mark_) continue;
    told_[index(slot)] = turn_mark_;
    update_rate(slot, state_.now);
  }
  for (const PlacementDraft::Rehost& rehost : draft_.rehosts()) {
    Job& job = state_.jobs[rehost.job];
    if (!job.running()) continue;
    job.host = rehost.host;
    update_group_rates(rehost.job, state_.now);
  }
}

// A job may be stopped and started again in one draft: what counts is how it ends up.
void Engine::stop_and_sort() {
  const std::vector<PlacementDraft::Step>& steps = draft_.steps();
  const PreemptionRule& rule = parts_.options.preemptions;
  assert(draft_.lifted() == 0 && "a lifted job got no GPUs");
  told_.resize(state_.jobs.slots(), 0);
  movers_.clear();
  starters_.clear();
  regrouped_.clear();
  for (std::uint32_t i = 0; i < steps.size(); ++i) {
    const PlacementDraft::Step& step = steps[i];
    const bool final = draft_.is_last(i);
    Job& job = state_.jobs[step.job];
    if (step.kind == PlacementDraft::Kind::kStop) {
      if (final || rule.passing_stops) count_preemption(job);
      if (!final || !job.running()) continue;
      note_neighbours(step.job);
      halt(step.job, step.reason, step.other, {.at = state_.now, .update_rates = false});
    } else if (final && job.waiting()) {
      starters_.push_back(i);
    } else if (final && job.running()) {
      const bool stays = step.gpus == job.gpus && step.co_located_with == kNoSlot;
      if (!stays) {
        movers_.push_back(i);
        const bool resize = step.gpus.gpus() != job.gpus.gpus();
        if (!resize && !step.lifted && rule.moves) count_preemption(job);
      } else if (!(job.host == step.host)) {
        job.host = step.host;
        regrouped_.push_back(step.job);
      }
    }
  }
}

void Engine::count_preemption(Job& job) {
  ++job.preemptions;
  ++stops_;
}

// Forms the groups as they will be, before the first command: every job is told of all neighbours.
void Engine::regroup() {
  const std::vector<PlacementDraft::Step>& steps = draft_.steps();
  for (const std::uint32_t i : movers_) {
    Job& job = state_.jobs[steps[i].job];
    if (job.next_co_located != steps[i].job) {
      note_neighbours(steps[i].job);
      unlink(steps[i].job, state_.now, false);
    }
    if (!job.opportunistic) continue;
    job.opportunistic = false;
    --state_.opportunistic;
  }
  if (draft_.joins() == 0) return;
  for (const std::vector<std::uint32_t>* who : {&movers_, &starters_}) {
    for (const std::uint32_t i : *who) {
      const Slot host = steps[i].co_located_with;
      if (host == kNoSlot) continue;
      state_.jobs[steps[i].job].next_co_located = state_.jobs[host].next_co_located;
      state_.jobs[host].next_co_located = steps[i].job;
      note_neighbours(steps[i].job);
    }
  }
}

// Jobs that share GPUs with the job will have to hear that this has changed.
void Engine::note_neighbours(Slot slot) {
  for (Slot other = state_.jobs[slot].next_co_located; other != slot;
       other = state_.jobs[other].next_co_located) {
    regrouped_.push_back(other);
  }
}

}  // namespace muster
