// Saving a run between two turns, and restoring it.
#include "model/checkpoint.h"

#include <algorithm>

#include "engine/engine.h"

namespace muster {
namespace {

// Rises with every change of what is written, here or in a policy.
constexpr std::uint64_t kStateVersion = 7;
constexpr std::uint64_t kStateMark = 0x656e67696e650000ULL + kStateVersion;

// Whether what was read points only to jobs and nodes that are there.
bool sound(const EngineState& state) {
  const auto is_slot = [&](Slot slot) { return index(slot) < state.jobs.slots(); };
  const auto is_node = [&](NodeId node) { return index(node) < state.cluster.node_count(); };
  const bool lists = std::all_of(state.held.begin(), state.held.end(), is_slot) &&
                     std::all_of(state.on_hold.begin(), state.on_hold.end(), is_slot) &&
                     std::all_of(state.removed.begin(), state.removed.end(), is_node) &&
                     std::all_of(state.back_offs.begin(), state.back_offs.end(),
                                 [&](const BackOff& one) { return is_slot(one.slot); });
  if (!lists) return false;
  for (std::size_t i = 0; i < state.jobs.slots(); ++i) {
    const GpuSet& gpus = state.jobs[Slot{static_cast<std::uint32_t>(i)}].gpus;
    for (int part = 0; part < gpus.nodes(); ++part) {
      if (!is_node(gpus[part].node)) return false;
    }
  }
  return true;
}

}  // namespace

void checkpoint(Archive& archive, EngineState& state) {
  checkpoint(archive, state.jobs);
  checkpoint(archive, state.cluster);
  archive.list(state.held);
  archive.list(state.on_hold);
  archive.list(state.back_offs);
  archive.list(state.removed);
  archive.list(state.cost);
  archive.list(state.used_before);
  state.overruns.checkpoint(archive);
  state.metrics.checkpoint(archive);
  archive.value(state.last_block);
  archive.value(state.now);
  archive.value(state.turned);
  archive.value(state.next);
  archive.value(state.wake);
  archive.value(state.active);
  archive.value(state.demanded);
  archive.value(state.turns);
  archive.value(state.left);
  archive.value(state.tracked_left);
  archive.value(state.next_id);
  archive.value(state.starts);
  archive.value(state.running);
  archive.value(state.opportunistic);
  archive.value(state.stalled_events);
  archive.value(state.stalled_turns);
  archive.value(state.changed);
  archive.value(state.undecided);
  archive.value(state.rescaled);
  archive.value(state.started);
  archive.value(state.over);
  if (archive.reading()) archive.require(sound(state));
}

bool Engine::checkpoint(Archive& archive) {
  archive.mark(kStateMark);
  muster::checkpoint(archive, state_);
  bool all = parts_.backend->checkpoint(archive);
  archive.mark(parts_.policy_sets.size());
  for (PolicySet& one : parts_.policy_sets) {
    all = all && one.admission->checkpoint(archive) && one.scheduling->checkpoint(archive) &&
          one.placement->checkpoint(archive);
  }
  if (parts_.selector != nullptr) all = all && parts_.selector->checkpoint(archive);
  if (parts_.scaling != nullptr) all = all && parts_.scaling->checkpoint(archive);
  archive.mark(kStateMark);
  if (archive.reading()) archive.require(state_.active < parts_.policy_sets.size());
  return all;
}

std::string Engine::unsavable() {
  Archive probe;
  if (!parts_.backend->checkpoint(probe)) return "backend";
  for (PolicySet& one : parts_.policy_sets) {
    if (!one.admission->checkpoint(probe)) return "admission policy";
    if (!one.scheduling->checkpoint(probe)) return "scheduling policy";
    if (!one.placement->checkpoint(probe)) return "placement policy";
  }
  if (parts_.selector != nullptr && !parts_.selector->checkpoint(probe)) return "selector";
  if (parts_.scaling != nullptr && !parts_.scaling->checkpoint(probe)) return "scaling policy";
  return {};
}

}  // namespace muster
