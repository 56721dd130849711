#include "perf/run_context.h"

#include <algorithm>
#include <vector>

namespace muster {

RunContext run_context_of(const ClusterState& cluster, const GpuSet& gpus,
                          const HostResources& host) {
  RunContext context;
  context.gpus = gpus.gpus();
  context.nodes = gpus.nodes();
  context.host = host;
  if (gpus.empty()) return context;
  context.gpu_type = cluster.node(gpus[0].node).gpu_type;
  if (gpus.nodes() == 1) return context;
  std::vector<int> racks;
  racks.reserve(static_cast<std::size_t>(gpus.nodes()));
  for (int i = 0; i < gpus.nodes(); ++i) racks.push_back(cluster.node(gpus[i].node).rack);
  std::sort(racks.begin(), racks.end());
  context.racks = static_cast<int>(std::unique(racks.begin(), racks.end()) - racks.begin());
  return context;
}

}  // namespace muster
