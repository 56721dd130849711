// The part of the cluster's state that is about CPU cores and memory beside GPUs.
#include <algorithm>
#include <cmath>

#include "model/cluster_state.h"

namespace muster {
namespace {

// How many of `gpus` GPUs can have these beside them; a node that does not say what it has has
// plenty.
int room_for(const NodeSpec& node, const HostResources& host, int gpus, double cpus,
             double memory) {
  constexpr double kSlack = 1e-9;  // parts of a node need not add up to it exactly
  double room = gpus;
  if (node.cpus > 0 && host.cpus_per_gpu > 0) {
    room = std::min(room, std::floor(cpus / host.cpus_per_gpu + kSlack));
  }
  if (node.memory_gb > 0 && host.memory_per_gpu > 0) {
    room = std::min(room, std::floor(memory / host.memory_per_gpu + kSlack));
  }
  return static_cast<int>(std::max(room, 0.0));
}

}  // namespace

void ClusterState::count_host(bool counts) {
  counts_host_ =
      counts && std::any_of(spec_->nodes.begin(), spec_->nodes.end(), [](const NodeSpec& node) {
        return node.cpus > 0 || node.memory_gb > 0;
      });
}

HostResources ClusterState::host_wanted(const JobSpec& job) const {
  if (!counts_host_ || job.gpus <= 0) return {};
  return {job.cpus / job.gpus, job.memory_gb / job.gpus};
}

int ClusterState::host_room(NodeId id, const HostResources& host) const {
  return room_for(node(id), host, free_on(id), free_cpus(id), free_memory(id));
}

int ClusterState::host_room_ever(NodeId id, const HostResources& host) const {
  const NodeSpec& spec = node(id);
  return room_for(spec, host, spec.gpus, spec.cpus, spec.memory_gb);
}

bool ClusterState::host_fits(const GpuSet& gpus, const HostResources& host) const {
  if (!counts_host_ || !host.any()) return true;
  for (int i = 0; i < gpus.nodes(); ++i) {
    const NodeId id = gpus[i].node;
    const int count = gpus[i].count();
    if (room_for(node(id), host, count, free_cpus(id), free_memory(id)) < count) return false;
  }
  return true;
}

bool ClusterState::host_ever_fits(const JobSpec& job, int gpus) const {
  const HostResources host = host_wanted(job);
  if (!host.any()) return true;
  int room = 0;
  for (const PoolId pool_id : pools_for(job.partition, job.gpu_type)) {
    for (const NodeId id : pool(pool_id).nodes) {
      room += host_room_ever(id, host);
      if (room >= gpus) return true;
    }
  }
  return false;
}

}  // namespace muster
