#include "policy/placement/search_placement.h"

#include <algorithm>

namespace muster {
namespace {

// GPUs that such a job can have on one node at most.
int largest_node(const ClusterState& cluster, const JobSpec& job) {
  const HostResources host = cluster.host_wanted(job);
  int largest = 0;
  for (const PoolId pool : cluster.pools_for(job.partition, job.gpu_type)) {
    for (const NodeId node : cluster.pool(pool).nodes) {
      largest = std::max(largest, cluster.host_room_ever(node, host));
    }
  }
  return largest;
}

}  // namespace

bool SearchPlacement::ever_fits(const ClusterState& cluster, const JobSpec& job, int gpus) const {
  if (one_node_ && gpus > largest_node(cluster, job)) return false;
  return WalkingPlacement::ever_fits(cluster, job, gpus);
}

}  // namespace muster
