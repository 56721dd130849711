#include "policy/placement/search.h"
#include "policy/shared_params.h"
#include "policy/table.h"

namespace muster {
namespace {

// Whole nodes or nothing; with `spread`, the emptiest nodes when that fails ("consolidate-first").
class WholeNodes final : public WalkingPlacement {
 public:
  WholeNodes(bool backfill, bool spread) : WalkingPlacement(backfill, spread), spread_(spread) {}
  bool ever_fits(const ClusterState& cluster, const JobSpec& job, int gpus) const override {
    if (!WalkingPlacement::ever_fits(cluster, job, gpus)) return false;
    return spread_ || whole_nodes_exist(cluster, job, gpus);
  }
  bool checkpoint(Archive&) override { return true; }
  std::unique_ptr<PlacementPolicy> clone() const override {
    return std::make_unique<WholeNodes>(*this);
  }

 protected:
  bool find(const View& view, const ClusterState& cluster, const AllocationRequest& request,
            GpuSet& gpus) override {
    const auto pools = pools_of(view, cluster, request);
    if (find_whole_nodes(cluster, pools, request.gpus, gpus)) return true;
    return spread_ && find_fewest_nodes(cluster, pools, request.gpus, gpus);
  }

 private:
  bool spread_;
};

}  // namespace

PolicyInfo<PlacementPolicy> whole_nodes_row() {
  return {"whole-nodes",
          "the tightest node; larger jobs get whole free nodes, and the emptiest node for the rest",
          "Helios, 2021",
          {kBackfill},
          [](const Params& params) -> std::unique_ptr<PlacementPolicy> {
            return std::make_unique<WholeNodes>(params.flag("backfill"), false);
          }};
}

PolicyInfo<PlacementPolicy> consolidate_first_row() {
  return {"consolidate-first",
          "as whole-nodes; as few nodes as possible where that fails",
          "Lucid, 2023",
          {kBackfill},
          [](const Params& params) -> std::unique_ptr<PlacementPolicy> {
            return std::make_unique<WholeNodes>(params.flag("backfill"), true);
          }};
}

}  // namespace muster
