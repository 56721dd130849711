#include "policy/placement/search.h"

#include <algorithm>
#include <map>

namespace muster {
namespace {

void take_lowest(const ClusterState& cluster, NodeId node, int gpus, GpuSet& found) {
  found.add(node, lowest_bits(cluster.free_mask(node), gpus));
}

// Nodes with at least one free GPU in these pools, those with most free first, lower ids first
// among equals.
template <typename Visit>  // bool(NodeId, int free): false ends the walk
void most_free_first(const ClusterState& cluster, std::span<const PoolId> pools, Visit visit) {
  int largest = 0;
  for (const PoolId pool : pools) largest = std::max(largest, cluster.pool(pool).largest);
  for (int free = largest; free > 0; --free) {
    for (const PoolId id : pools) {
      const Pool& pool = cluster.pool(id);
      if (free > pool.largest) continue;
      const NodeSet& nodes = pool.by_free[static_cast<std::size_t>(free)];
      for (NodeId node = nodes.first(); node != kNoNode; node = nodes.after(node)) {
        if (!visit(node, free)) return;
      }
    }
  }
}

}  // namespace

bool find_tightest_node(const ClusterState& cluster, std::span<const PoolId> pools, int gpus,
                        GpuSet& found) {
  int largest = 0;
  for (const PoolId pool : pools) largest = std::max(largest, cluster.pool(pool).largest);
  for (int free = gpus; free <= largest; ++free) {
    for (const PoolId id : pools) {
      const Pool& pool = cluster.pool(id);
      if (free > pool.largest) continue;
      const NodeId node = pool.by_free[static_cast<std::size_t>(free)].first();
      if (node == kNoNode) continue;
      take_lowest(cluster, node, gpus, found);
      return true;
    }
  }
  return false;
}

bool find_fewest_nodes(const ClusterState& cluster, std::span<const PoolId> pools, int gpus,
                       GpuSet& found) {
  if (find_tightest_node(cluster, pools, gpus, found)) return true;
  int left = gpus;
  most_free_first(cluster, pools, [&](NodeId node, int free) {
    // Once a single node can hold the rest, the tightest such node does.
    if (free >= left) return false;
    take_lowest(cluster, node, free, found);
    left -= free;
    return left > 0;
  });
  if (left == 0) return true;
  // The nodes taken so far had fewer free GPUs than `left` was then; the rest must avoid them.
  NodeId best = kNoNode;
  int best_free = 0;
  most_free_first(cluster, pools, [&](NodeId node, int free) {
    if (free < left) return false;
    for (int i = 0; i < found.nodes(); ++i) {
      if (found[i].node == node) return true;
    }
    if (best == kNoNode || free < best_free) {
      best = node;
      best_free = free;
    }
    return true;
  });
  if (best == kNoNode) {
    found.clear();
    return false;
  }
  take_lowest(cluster, best, left, found);
  return true;
}

bool find_whole_nodes(const ClusterState& cluster, std::span<const PoolId> pools, int gpus,
                      GpuSet& found) {
  int largest = 0;
  for (const PoolId pool : pools) largest = std::max(largest, cluster.pool(pool).largest);
  if (gpus <= largest) return find_tightest_node(cluster, pools, gpus, found);
  int left = gpus;
  most_free_first(cluster, pools, [&](NodeId node, int free) {
    const int part = std::min(left, largest);
    if (free < part) return false;
    take_lowest(cluster, node, part, found);
    left -= part;
    return left > 0;
  });
  if (left > 0) found.clear();
  return left == 0;
}

bool whole_nodes_exist(const ClusterState& cluster, const JobSpec& job, int gpus) {
  const auto pools = cluster.pools_for(job.partition, job.gpu_type);
  const HostResources host = cluster.host_wanted(job);
  int largest = 0;
  for (const PoolId id : pools) largest = std::max(largest, cluster.pool(id).largest);
  const int part = std::min(gpus, largest);
  int nodes = 0;
  for (const PoolId id : pools) {
    for (const NodeId node : cluster.pool(id).nodes) {
      nodes += cluster.host_room_ever(node, host) >= part ? 1 : 0;
    }
  }
  return part > 0 && nodes > 0 && gpus / part <= nodes;
}

bool find_first_gpus(const ClusterState& cluster, std::span<const PoolId> pools, int gpus,
                     GpuSet& found) {
  int left = gpus;
  for (const PoolId id : pools) {
    for (const NodeId node : cluster.pool(id).nodes) {
      const int part = std::min(left, cluster.free_on(node));
      if (part == 0) continue;
      take_lowest(cluster, node, part, found);
      left -= part;
      if (left == 0) return true;
    }
  }
  found.clear();
  return false;
}

bool find_most_nodes(const ClusterState& cluster, std::span<const PoolId> pools, int gpus,
                     GpuSet& found) {
  std::map<NodeId, int> taken;
  int left = gpus;
  while (left > 0) {
    const int before = left;
    most_free_first(cluster, pools, [&](NodeId node, int free) {
      int& count = taken[node];
      if (count < free) {
        ++count;
        --left;
      }
      return left > 0;
    });
    if (left == before) return false;
  }
  for (const auto& [node, count] : taken) {
    if (count > 0) take_lowest(cluster, node, count, found);
  }
  return true;
}

}  // namespace muster
