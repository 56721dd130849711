// The placement rules that are one search each.
#include <algorithm>

#include "base/archive.h"
#include "policy/placement/search.h"
#include "policy/shared_params.h"
#include "policy/table.h"

namespace muster {
namespace {

using Search = bool (*)(const ClusterState&, std::span<const PoolId>, int, GpuSet&);

// The largest job that one node of the cluster could ever hold.
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

class SearchPlacement final : public WalkingPlacement {
 public:
  SearchPlacement(bool backfill, Search search, bool one_node)
      : WalkingPlacement(backfill, !one_node), search_(search), one_node_(one_node) {}
  bool ever_fits(const ClusterState& cluster, const JobSpec& job, int gpus) const override {
    if (one_node_ && gpus > largest_node(cluster, job)) return false;
    return WalkingPlacement::ever_fits(cluster, job, gpus);
  }
  bool checkpoint(Archive&) override { return true; }
  std::unique_ptr<PlacementPolicy> clone() const override {
    return std::make_unique<SearchPlacement>(*this);
  }

 protected:
  bool find(const View& view, const ClusterState& cluster, const AllocationRequest& request,
            GpuSet& gpus) override {
    return search_(cluster, pools_of(view, cluster, request), request.gpus, gpus);
  }

 private:
  Search search_;
  bool one_node_;
};

}  // namespace

PolicyInfo<PlacementPolicy> consolidated_row() {
  return {"consolidated",
          "as few nodes as possible, tightest fit first",
          "folklore",
          {{"one_node", ParamKind::kFlag, "false", "never split a job across nodes"}, kBackfill},
          [](const Params& params) -> std::unique_ptr<PlacementPolicy> {
            const bool one_node = params.flag("one_node");
            return std::make_unique<SearchPlacement>(
                params.flag("backfill"), one_node ? find_tightest_node : find_fewest_nodes,
                one_node);
          }};
}

PolicyInfo<PlacementPolicy> first_gpu_row() {
  return {"first-gpu",
          "the lowest-numbered free GPUs",
          "Blox, 2024",
          {kBackfill},
          [](const Params& params) -> std::unique_ptr<PlacementPolicy> {
            return std::make_unique<SearchPlacement>(params.flag("backfill"), find_first_gpus,
                                                     false);
          }};
}

PolicyInfo<PlacementPolicy> scattered_row() {
  return {"scattered",
          "as many nodes as possible",
          "Blox, 2024",
          {kBackfill},
          [](const Params& params) -> std::unique_ptr<PlacementPolicy> {
            return std::make_unique<SearchPlacement>(params.flag("backfill"), find_most_nodes,
                                                     false);
          }};
}

}  // namespace muster
