#include "engine/invariants.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>

#include <fmt/format.h>

namespace muster {
namespace {

// The whole ring of a group is counted once, by its lowest slot.
bool leads_group(const JobTable& jobs, Slot slot) {
  for (Slot other = jobs[slot].next_co_located; other != slot;
       other = jobs[other].next_co_located) {
    if (index(other) < index(slot)) return false;
  }
  return true;
}

std::optional<std::string> broken_job(const JobTable& jobs, Slot slot, Seconds now) {
  const Job& job = jobs[slot];
  const auto id = index(job.spec.id);
  if (!job.running() && !job.waiting())
    return fmt::format("job {} is active but {}", id, job_state_name(job.state));
  if (job.running() == job.gpus.empty())
    return fmt::format("job {} is {} with {} GPUs", id, job_state_name(job.state), job.gpus.gpus());
  constexpr double kRounding = 1e-9;
  if (job.spec.believed && job.work_at(now) > job.total_work * (1 + kRounding))
    return fmt::format("job {} has done more than it is believed to have", id);
  if (job.work_at(now) < 0) return fmt::format("job {} has negative progress", id);
  if (job.waiting() && job.rate != 0) return fmt::format("job {} waits and yet makes progress", id);
  if (job.attained_at(now) < 0 || job.gpu_seconds_at(now) < 0)
    return fmt::format("job {} has held GPUs for a negative time", id);
  if (job.running() &&
      (job.gpus.gpus() < job.spec.least_gpus() || job.gpus.gpus() > job.spec.most_gpus())) {
    return fmt::format("job {} asked for {} GPUs and runs on {}", id, job.spec.gpus,
                       job.gpus.gpus());
  }
  int ring = 1;
  for (Slot other = job.next_co_located; other != slot; other = jobs[other].next_co_located) {
    if (++ring > kMaxGroup)
      return fmt::format("job {} is in a group of more than {}", id, kMaxGroup);
    if (!jobs[other].running() || !(jobs[other].gpus == job.gpus)) {
      return fmt::format("job {} shares GPUs with a job that is not on them", id);
    }
  }
  return std::nullopt;
}

// CPU cores and memory in use on a node: as the cluster counts them, and no more than there are.
std::optional<std::string> broken_host(const ClusterState& cluster, NodeId node,
                                       const HostResources& used) {
  const NodeSpec& spec = cluster.node(node);
  const auto check = [&](std::string_view what, double whole, double in_use,
                         double free) -> std::optional<std::string> {
    const double slack = 1e-6 * (1 + whole);
    if (std::abs(whole - in_use - free) > slack) {
      return fmt::format("{} of {} {} of node {} are in use, but the cluster counts {} as free",
                         in_use, whole, what, index(node), free);
    }
    if (!cluster.counts_host() || whole <= 0 || in_use <= whole + slack) return std::nullopt;
    return fmt::format("{} {} of node {} are in use, but it has {}", in_use, what, index(node),
                       whole);
  };
  if (auto broken = check("cores", spec.cpus, used.cpus_per_gpu, cluster.free_cpus(node))) {
    return broken;
  }
  return check("GiB", spec.memory_gb, used.memory_per_gpu, cluster.free_memory(node));
}

std::optional<std::string> broken_hosts(const JobTable& jobs, const ClusterState& cluster) {
  std::map<NodeId, HostResources> used;  // on the whole node
  for (const Slot slot : jobs.running()) {
    const Job& job = jobs[slot];
    if (job.opportunistic || !leads_group(jobs, slot)) continue;
    for (int i = 0; i < job.gpus.nodes(); ++i) {
      HostResources& there = used[job.gpus[i].node];
      there.cpus_per_gpu += job.host.cpus_per_gpu * job.gpus[i].count();
      there.memory_per_gpu += job.host.memory_per_gpu * job.gpus[i].count();
    }
  }
  for (const auto& [node, host] : used) {
    if (auto broken = broken_host(cluster, node, host)) return broken;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> broken_invariant(const Engine& engine) {
  const JobTable& jobs = engine.jobs();
  const ClusterState& cluster = engine.cluster();
  std::map<NodeId, std::uint64_t> held;
  std::map<NodeId, std::uint64_t> started_opportunistic;
  std::size_t waiting = 0;
  std::size_t active = 0;
  int used = 0;
  JobId previous = kNoJob;
  for (const Slot slot : jobs.active()) {
    const Job& job = jobs[slot];
    if (auto broken = broken_job(jobs, slot, engine.now())) return broken;
    if (previous != kNoJob && job.spec.id <= previous)
      return "active jobs are out of order, or one is listed twice";
    previous = job.spec.id;
    ++active;
    waiting += job.waiting() ? 1 : 0;
    if (job.opportunistic) {
      for (int i = 0; i < job.gpus.nodes(); ++i) {
        std::uint64_t& taken = started_opportunistic[job.gpus[i].node];
        if ((taken & job.gpus[i].mask) != 0)
          return fmt::format("a GPU of node {} has two opportunistic jobs",
                             index(job.gpus[i].node));
        taken |= job.gpus[i].mask;
      }
      continue;
    }
    if (!job.running() || !leads_group(jobs, slot)) continue;
    used += job.gpus.gpus();
    for (int i = 0; i < job.gpus.nodes(); ++i) {
      const NodeGpus& part = job.gpus[i];
      std::uint64_t& taken = held[part.node];
      if ((taken & part.mask) != 0)
        return fmt::format("a GPU of node {} was given twice", index(part.node));
      taken |= part.mask;
      if (!cluster.up(part.node))
        return fmt::format("job {} runs on node {}, which is down", index(job.spec.id),
                           index(part.node));
      if ((cluster.free_mask(part.node) & part.mask) != 0)
        return fmt::format("node {} counts a GPU in use as free", index(part.node));
    }
  }
  if (active != jobs.active().size() || waiting != jobs.waiting().size())
    return "the lists of jobs disagree with the jobs";
  if (used != cluster.used_gpus())
    return fmt::format("{} GPUs are in use, but the cluster counts {}", used, cluster.used_gpus());
  if (auto broken = broken_hosts(jobs, cluster)) return broken;
  int free = 0;
  for (const Pool& pool : cluster.pools()) {
    int in_pool = 0;
    for (const NodeId node : pool.nodes) in_pool += cluster.free_on(node);
    if (in_pool != pool.free)
      return fmt::format("a pool counts {} free GPUs, but its nodes have {}", pool.free, in_pool);
    free += in_pool;
  }
  if (free != cluster.free_gpus()) return "the cluster's count of free GPUs is wrong";
  return std::nullopt;
}

void check_invariants(const Engine& engine) {
  if (const auto broken = broken_invariant(engine)) {
    fmt::print(stderr, "invariant broken at {} s: {}\n", engine.now(), *broken);
    std::abort();
  }
}

}  // namespace muster
