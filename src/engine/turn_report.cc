// Reports to observers: the statistics of a turn, every decision, the blocked job.
#include <bit>

#include "engine/engine.h"
#include "engine/invariants.h"
#include "model/truth.h"

namespace muster {

void Engine::report_turn(Seconds previous, long long skipped) {
#if MUSTER_INVARIANTS
  check_invariants(*this);
#endif
  TurnStats stats;
  stats.time = state_.now;
  stats.previous = previous;
  stats.held = static_cast<std::int32_t>(state_.held.size() + state_.on_hold.size());
  stats.waiting = static_cast<std::int32_t>(state_.jobs.waiting().size());
  stats.running = state_.running;
  stats.usable_gpus = state_.cluster.usable_gpus();
  stats.used_gpus = state_.cluster.used_gpus();
  if (state_.opportunistic > 0) stats.used_gpus += used_opportunistically_alone();
  if (parts_.options.close_look) look_closely(stats);
  stats.demanded_gpus = static_cast<std::int32_t>(state_.demanded);
  stats.stops = stops_;
  if (parts_.prices != nullptr) stats.spent = spend(previous);
  if (planned_) {
    stats.programs = plan_.programs();
    stats.gap = plan_.gap();
  }
  stats.skipped = static_cast<std::int32_t>(skipped);
  for (Observer* observer : parts_.observers) observer->on_turn(stats);
}

int Engine::used_opportunistically_alone() const {
  int sum = 0;
  for (const Slot slot : state_.jobs.running()) {
    const Job& job = state_.jobs[slot];
    for (int i = 0; job.opportunistic && i < job.gpus.nodes(); ++i) {
      sum += std::popcount(job.gpus[i].mask & state_.cluster.free_mask(job.gpus[i].node));
    }
  }
  return sum;
}

void Engine::look_closely(TurnStats& stats) const {
  double blocked = 0;
  for (const Slot slot : state_.jobs.waiting()) {
    const Job& job = state_.jobs[slot];
    const double left = std::max(0.0, true_work(job) - job.work_at(state_.now));
    if (left > 0) blocked += (job.waited_before + state_.now - job.waiting_since) / left;
  }
  const auto waiting = static_cast<double>(state_.jobs.waiting().size());
  if (waiting > 0) stats.blocking_index = blocked / waiting;
  if (stats.usable_gpus == 0) return;
  constexpr double kMillisecond = 1e-3;
  for (const Slot slot : state_.jobs.running()) {
    const Job& job = state_.jobs[slot];
    const double work = parts_.perf->total_work(job.spec);
    if (work <= 0) continue;
    const double steps_per_second = job.rate * steps_of(*parts_.perf, job.spec) / work;
    const double part = job.gpus.gpus() / static_cast<double>(stats.usable_gpus);
    for (std::size_t i = 0; i < kStages; ++i) {
      stats.busy[i] += part * steps_per_second * job.spec.stage_ms[i] * kMillisecond;
    }
  }
}

double Engine::spend(Seconds previous) {
  const std::span<const Pool> pools = state_.cluster.pools();
  double dollars = 0;
  for (std::size_t i = 0; i < state_.used_before.size(); ++i) {
    if (state_.used_before[i] > 0) {
      dollars +=
          state_.used_before[i] * parts_.prices->between(pools[i].gpu_type, previous, state_.now);
    }
  }
  note_use();
  return dollars;
}

void Engine::note_use() {
  state_.used_before.clear();
  for (const Pool& pool : state_.cluster.pools()) {
    state_.used_before.push_back(pool.usable - pool.free);
  }
}

void Engine::log(Action action, Reason reason, JobId job, int gpus, JobId other, int detail,
                 const GpuSet* gpus_held) {
  if (parts_.observers.empty()) return;
  Decision decision;
  decision.time = state_.now;
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
    state_.last_block = {};
    return;
  }
  const JobId job = state_.jobs[block->request.lead()].spec.id;
  if (state_.last_block.job == job && state_.last_block.reason == block->reason &&
      state_.last_block.detail == block->free) {
    return;
  }
  state_.last_block.job = job;
  state_.last_block.reason = block->reason;
  state_.last_block.detail = block->free;
  log(Action::kBlock, block->reason, job, block->request.gpus, kNoJob, block->free);
}

}  // namespace muster
