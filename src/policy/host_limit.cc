#include "policy/host_limit.h"

#include <bit>

namespace muster {

HostLimit::HostLimit(ClusterState& cluster, std::span<const PoolId> pools,
                     const HostResources& host)
    : cluster_(&cluster) {
  if (!cluster.counts_host() || !host.any()) return;
  for (const PoolId pool : pools) {
    for (const NodeId id : cluster.pool(pool).nodes) {
      const std::uint64_t free = cluster.free_mask(id);
      const int room = cluster.host_room(id, host);
      if (room == std::popcount(free)) continue;
      hidden_.push_back({id, free & ~lowest_bits(free, room)});
      cluster.withhold(id, hidden_.back().mask);
    }
  }
}

HostLimit::HostLimit(ClusterState& cluster, std::span<const NodeGpus> kept) : cluster_(&cluster) {
  for (const NodeGpus& gpus : kept) {
    const std::uint64_t free = cluster.free_mask(gpus.node) & gpus.mask;
    if (free == 0) continue;
    hidden_.push_back({gpus.node, free});
    cluster.withhold(gpus.node, free);
  }
}

}  // namespace muster
