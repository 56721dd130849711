#include <algorithm>
#include <vector>

#include "perf/perf_model.h"

namespace muster {

Footing footing_of(const ClusterState& cluster, const GpuSet& gpus, const HostShare& host) {
  Footing footing;
  footing.gpus = gpus.gpus();
  footing.nodes = gpus.nodes();
  footing.host = host;
  if (gpus.empty()) return footing;
  footing.gpu_type = cluster.node(gpus[0].node).gpu_type;
  if (gpus.nodes() == 1) return footing;
  std::vector<int> racks;
  racks.reserve(static_cast<std::size_t>(gpus.nodes()));
  for (int i = 0; i < gpus.nodes(); ++i) racks.push_back(cluster.node(gpus[i].node).rack);
  std::sort(racks.begin(), racks.end());
  footing.racks = static_cast<int>(std::unique(racks.begin(), racks.end()) - racks.begin());
  return footing;
}

}  // namespace muster
