// Saving a run between two turns, and putting it back.
#include "model/checkpoint.h"

#include "engine/engine.h"

namespace muster {
namespace {

template <typename Part>
bool checkpoint_part(Archive& archive, Part* part) {
  auto* checkpointable = dynamic_cast<Checkpointable*>(part);
  return checkpointable != nullptr && checkpointable->checkpoint(archive);
}

// The life of a job up to the state it was in, so that the table's lists hold it.
void live_to(JobTable& jobs, Slot slot, JobState state) {
  if (state == JobState::kSubmitted) return;
  jobs.set_state(slot, JobState::kQueued);
  if (state == JobState::kQueued) return;
  jobs.set_state(slot, JobState::kRunning);
  if (state == JobState::kPreempted) jobs.set_state(slot, JobState::kPreempted);
}

}  // namespace

// Slots of jobs that left are empty; which of them the next job gets does not matter to anybody.
void Engine::checkpoint_jobs(Archive& archive) {
  std::vector<char> there(jobs_.slots(), 0);
  for (const Slot slot : jobs_.active()) there[index(slot)] = 1;
  for (const Slot slot : held_) there[index(slot)] = 1;
  archive.list(there);
  if (archive.reading()) {
    JobTable fresh;
    for (std::size_t i = 0; i < there.size(); ++i) fresh.add({});
    jobs_ = std::move(fresh);
  }
  for (std::size_t i = 0; archive.good() && i < there.size(); ++i) {
    const Slot slot{static_cast<std::uint32_t>(i)};
    if (there[i] == 0) {
      if (archive.reading()) jobs_.remove(slot);
      continue;
    }
    Job job = jobs_[slot];
    muster::checkpoint(archive, job);
    if (!archive.reading() || !archive.good()) continue;
    jobs_[slot].spec = job.spec;
    live_to(jobs_, slot, job.state);
    jobs_[slot] = job;
  }
}

// Nodes that are down or have broken GPUs, and the GPUs that jobs hold, follow from the rest.
void Engine::checkpoint_cluster(Archive& archive) {
  std::vector<std::uint64_t> healthy(cluster_.node_count());
  for (std::size_t i = 0; i < healthy.size(); ++i) {
    healthy[i] = cluster_.healthy_mask(NodeId{static_cast<std::uint32_t>(i)});
  }
  const std::size_t nodes = healthy.size();
  archive.list(healthy);
  if (!archive.reading() || !archive.good() || healthy.size() != nodes) return;
  cluster_ = ClusterState(parts_.cluster);
  cluster_.count_host(parts_.options.count_host);
  for (const Slot slot : held_) cluster_.expect(jobs_[slot].spec);
  for (const Slot slot : jobs_.active()) cluster_.expect(jobs_[slot].spec);
  for (std::size_t i = 0; i < nodes; ++i) {
    const NodeId node{static_cast<std::uint32_t>(i)};
    cluster_.set_up(node, healthy[i] != 0);
    for (int gpu = 0; healthy[i] != 0 && gpu < cluster_.node(node).gpus; ++gpu) {
      cluster_.set_healthy(node, gpu, ((healthy[i] >> gpu) & 1U) != 0);
    }
  }
  for (const Slot slot : jobs_.running()) {
    const Job& job = jobs_[slot];
    bool first = true;  // of those who share the GPUs
    for (Slot other = job.next_co_located; other != slot; other = jobs_[other].next_co_located) {
      first = first && job.spec.id < jobs_[other].spec.id;
    }
    if (first && !job.opportunistic) cluster_.take(job.gpus, job.spec.partition, job.host);
  }
}

bool Engine::checkpoint(Archive& archive) {
  if (parts_.selector != nullptr || parts_.scaling != nullptr) return false;
  constexpr std::uint64_t kEngine = 0x656e67696e65;
  archive.mark(kEngine);
  archive.list(held_);
  checkpoint_jobs(archive);
  checkpoint_cluster(archive);
  archive.list(cost_);
  archive.list(used_before_);
  archive.value(last_block_);
  archive.value(now_);
  archive.value(next_);
  archive.value(wake_);
  archive.value(active_);
  archive.value(demanded_);
  archive.value(turns_);
  archive.value(left_);
  archive.value(tracked_left_);
  archive.value(next_id_);
  archive.value(starts_);
  archive.value(running_);
  archive.value(opportunistic_);
  archive.value(stops_);
  archive.value(stalled_events_);
  archive.value(stalled_turns_);
  archive.value(changed_);
  archive.value(rescaled_);
  archive.value(started_);
  archive.value(over_);
  if (!checkpoint_part(archive, parts_.backend)) return false;
  for (PolicySet& policy_set : parts_.policy_sets) {
    const bool kept = checkpoint_part(archive, policy_set.admission.get()) &&
                      checkpoint_part(archive, policy_set.scheduling.get()) &&
                      checkpoint_part(archive, policy_set.placement.get());
    if (!kept) return false;
  }
  archive.mark(kEngine);
  return true;
}

}  // namespace muster
