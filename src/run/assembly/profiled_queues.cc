#include "run/assembly/profiled_queues.h"

#include <algorithm>

#include "policy/lucid/profiled_queue.h"
#include "run/config/live_metrics.h"

namespace muster {
namespace {

// The last GPUs of the last nodes are the profiler's.
Result<std::vector<NodeGpus>> profiler_gpus(const ProfilingConfig& chosen,
                                            const ClusterSpec& cluster) {
  std::vector<NodeGpus> found;
  int left = 0;
  const std::size_t count = cluster.nodes.size();
  for (std::size_t i = 0; i < count; ++i) {
    const int gpus = cluster.nodes[i].gpus;
    const bool gives = i + static_cast<std::size_t>(chosen.nodes) >= count;
    const int kept = gives ? static_cast<int>(std::min<long long>(gpus, chosen.gpus_per_node)) : 0;
    left += gpus - kept;
    if (kept == 0) continue;
    const std::uint64_t all = lowest_bits(~std::uint64_t{0}, gpus);
    found.push_back({NodeId{static_cast<std::uint32_t>(i)}, all & ~lowest_bits(all, gpus - kept)});
  }
  if (left > 0) return found;
  return Error{
      "profiling: all GPUs would be the profiler's, and none were left to run jobs on; give it "
      "fewer, as with --set profiling.nodes=1 --set profiling.gpus_per_node=1"};
}

}  // namespace

Status add_profiler_within(const RunConfig& config, const ClusterSpec& cluster,
                           const Symbols& symbols, std::span<PolicySet> policy_sets) {
  const ProfilingConfig& chosen = config.profiling;
  if (chosen.nodes == 0 || !chosen.within) return Done{};
  auto gpus = profiler_gpus(chosen, cluster);
  if (!gpus) return gpus.error();
  ProfiledQueueSettings settings;
  settings.gpus = std::move(*gpus);
  settings.limit = chosen.limit;
  settings.largest = static_cast<int>(chosen.largest);
  settings.count_host = config.engine.count_host;
  settings.gpu_util = symbols.find(kGpuUtil);
  settings.memory_util = symbols.find(kMemoryUtil);
  settings.memory_mb = symbols.find(kMemoryMb);
  for (PolicySet& policies : policy_sets) {
    if (policies.scheduling->traits().preemptive) {
      return Error{
          "profiling: jobs that leave the profiler wait with those of a policy that does not "
          "preempt; choose such a policy, as with --scheduling lucid, or leave profiling out "
          "(--set "
          "profiling.nodes=0)"};
    }
    policies.placement = make_profiled_queue(settings, cluster, std::move(policies.placement));
  }
  return Done{};
}

}  // namespace muster
