// Continuing from a world that is given.
#include "engine/world.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "engine/engine.h"

namespace muster {
namespace {

Status check_job(const Job& job, const ClusterState& cluster) {
  const auto id = index(job.spec.id);
  const bool known = job.running() || job.waiting() || job.state == JobState::kSubmitted;
  if (!known) return Error{fmt::format("job {} is {}", id, job_state_name(job.state))};
  if (job.running() == job.gpus.empty()) {
    return Error{
        fmt::format("job {} is {} with {} GPUs", id, job_state_name(job.state), job.gpus.gpus())};
  }
  for (int i = 0; i < job.gpus.nodes(); ++i) {
    const NodeGpus& part = job.gpus[i];
    const bool there = index(part.node) < cluster.node_count();
    if (!there || (part.mask & ~cluster.healthy_mask(part.node)) != 0) {
      return Error{
          fmt::format("job {} runs on GPUs of node {} that are not there", id, index(part.node))};
    }
  }
  return Done{};
}

}  // namespace

EngineWorld Engine::world() const {
  EngineWorld world;
  world.now = state_.now;
  world.next_id = state_.next_id;
  for (const Slot slot : state_.jobs.active()) world.jobs.push_back(state_.jobs[slot]);
  for (const Slot slot : state_.held) world.jobs.push_back(state_.jobs[slot]);
  for (const Slot slot : state_.on_hold) {
    world.jobs.push_back(state_.jobs[slot]);
    world.on_hold.push_back(state_.jobs[slot].spec.id);
  }
  std::sort(world.jobs.begin(), world.jobs.end(),
            [](const Job& a, const Job& b) { return a.spec.id < b.spec.id; });
  for (const BackOff& one : state_.back_offs) {
    const Job& job = state_.jobs[one.slot];
    if (job.waiting()) world.back_offs.push_back({job.spec.id, one.until});
  }
  for (const Job& job : world.jobs) {
    const double dollars = parts_.prices != nullptr ? state_.cost[index(job.self)] : 0;
    if (dollars > 0) world.costs.push_back({job.spec.id, dollars});
    for (const Symbol name : state_.metrics.names()) {
      const auto value = state_.metrics.of(job.self, name);
      if (value) world.metrics.push_back({state_.now, job.spec.id, name, *value});
    }
  }
  for (std::size_t i = 0; i < state_.cluster.node_count(); ++i) {
    const NodeId node{static_cast<std::uint32_t>(i)};
    const bool removed =
        std::find(state_.removed.begin(), state_.removed.end(), node) != state_.removed.end();
    world.nodes.push_back({node, state_.cluster.up(node), state_.cluster.drained(node), removed,
                           state_.cluster.broken_mask(node)});
  }
  return world;
}

Status Engine::adopt(const EngineWorld& world) {
  if (state_.started || state_.next_id != 0) return Error{"only a new engine can adopt a world"};
  state_.now = state_.turned = world.now;
  state_.next_id = world.next_id;
  for (const WorldNode& one : world.nodes) {
    if (index(one.node) >= state_.cluster.node_count())
      return Error{fmt::format("the cluster has no node {}", index(one.node))};
    state_.cluster.set_up(one.node, one.up);
    for (int gpu = 0; gpu < state_.cluster.node(one.node).gpus; ++gpu) {
      state_.cluster.set_healthy(one.node, gpu, ((one.broken_gpus >> gpu) & 1U) == 0);
    }
    if (one.removed) state_.removed.push_back(one.node);
  }
  std::vector<Slot> running;
  for (const Job& job : world.jobs) {
    if (job.spec.id >= JobId{world.next_id})
      return Error{
          fmt::format("job {} is beyond the next one, {}", index(job.spec.id), world.next_id)};
    if (Status fine = check_job(job, state_.cluster); !fine) return fine;
    const bool on_hold =
        std::find(world.on_hold.begin(), world.on_hold.end(), job.spec.id) != world.on_hold.end();
    const Slot slot = adopt_job(job, on_hold);
    note_belief(slot);
    if (state_.jobs[slot].running()) running.push_back(slot);
  }
  if (Status taken = adopt_runs(running); !taken) return taken;
  if (Status kept = adopt_accounts(world); !kept) return kept;
  // What is held on a drained node is still usable, so this comes last.
  for (const WorldNode& one : world.nodes) state_.cluster.set_drained(one.node, one.drained);
  if (parts_.prices != nullptr) note_use();
  state_.started = true;
  state_.changed = state_.undecided = true;
  state_.next = next_turn(true);
  return Done{};
}

Slot Engine::adopt_job(const Job& given, bool on_hold) {
  const Slot slot = state_.jobs.add(given.spec);
  Job& job = state_.jobs[slot];
  const JobState state = given.state;
  job = given;
  job.self = slot;
  job.next_co_located = slot;
  job.state = JobState::kSubmitted;
  state_.cluster.expect(job.spec);
  if (parts_.prices != nullptr) state_.cost.resize(state_.jobs.slots(), 0);
  if (state == JobState::kSubmitted) {
    (on_hold ? state_.on_hold : state_.held).push_back(slot);
    return slot;
  }
  state_.demanded += job.spec.gpus;
  state_.jobs.set_state(slot, JobState::kQueued);
  if (state == JobState::kQueued) return slot;
  state_.jobs.set_state(slot, JobState::kRunning);
  if (state == JobState::kPreempted) state_.jobs.set_state(slot, JobState::kPreempted);
  return slot;
}

// What is counted of a job beside the job itself.
Status Engine::adopt_accounts(const EngineWorld& world) {
  if (world.back_offs.empty() && world.costs.empty() && world.metrics.empty()) return Done{};
  std::unordered_map<std::uint32_t, Slot> slots;
  for (std::size_t i = 0; i < state_.jobs.slots(); ++i) {
    const Slot slot{static_cast<std::uint32_t>(i)};
    slots.emplace(static_cast<std::uint32_t>(state_.jobs[slot].spec.id), slot);
  }
  const auto slot_of = [&slots](JobId job) {
    const auto found = slots.find(static_cast<std::uint32_t>(job));
    return found == slots.end() ? kNoSlot : found->second;
  };
  for (const WorldBackOff& one : world.back_offs) {
    const Slot slot = slot_of(one.job);
    if (slot == kNoSlot || !state_.jobs[slot].waiting()) {
      return Error{fmt::format("job {} is to be started later, but does not wait", index(one.job))};
    }
    state_.back_offs.push_back({one.until, slot});
  }
  for (const WorldCost& one : world.costs) {
    const Slot slot = slot_of(one.job);
    if (slot == kNoSlot) return Error{fmt::format("job {} has cost, but is gone", index(one.job))};
    if (parts_.prices != nullptr) state_.cost[index(slot)] = one.dollars;
  }
  for (const JobMetric& one : world.metrics) {
    if (const Slot slot = slot_of(one.job); slot != kNoSlot) {
      state_.metrics.set(slot, one.name, one.value);
    }
  }
  return Done{};
}

// In the order in which they started, so that jobs that share GPUs came in that order, too.
Status Engine::adopt_runs(std::vector<Slot>& running) {
  JobTable& jobs = state_.jobs;
  std::stable_sort(running.begin(), running.end(),
                   [&](Slot a, Slot b) { return jobs[a].start_order < jobs[b].start_order; });
  for (std::size_t i = 0; i < running.size(); ++i) {
    Job& job = jobs[running[i]];
    job.start_order = ++state_.starts;
    ++state_.running;
    if (job.opportunistic) {
      ++state_.opportunistic;
      continue;
    }
    const auto host = std::find_if(
        running.begin(), running.begin() + static_cast<long>(i),
        [&](Slot other) { return !jobs[other].opportunistic && jobs[other].gpus == job.gpus; });
    if (host != running.begin() + static_cast<long>(i)) {
      job.host = jobs[*host].host;
      job.next_co_located = jobs[*host].next_co_located;
      jobs[*host].next_co_located = running[i];
      continue;
    }
    for (int part = 0; part < job.gpus.nodes(); ++part) {
      const NodeGpus& gpus = job.gpus[part];
      if ((state_.cluster.free_mask(gpus.node) & gpus.mask) != gpus.mask) {
        return Error{fmt::format("job {} runs on GPUs of node {} that another job holds",
                                 index(job.spec.id), index(gpus.node))};
      }
    }
    // A node may have less beside its GPUs than it had, by its description.
    if (!state_.cluster.host_fits(job.gpus, job.host)) job.host = {};
    state_.cluster.take(job.gpus, job.spec.partition, job.host);
  }
  for (const Slot slot : jobs.active()) notify(JobMoment::kAdmitted, slot);
  for (const Slot slot : running) {
    const bool starting = jobs[slot].starting();
    update_rate(slot, state_.now, CommandKind::kAdopt);
    if (starting && !jobs[slot].starting()) end_wait(jobs[slot], state_.now);
    notify(JobMoment::kStarted, slot);
  }
  return Done{};
}

}  // namespace muster
