// The placers of Lucid's simulator that put one job at a time on free GPUs.
#include <algorithm>

#include "base/random.h"
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

// Nodes drawn at random, filled one after the other.
class RandomNodes final : public WalkingPlacement {
 public:
  RandomNodes(bool backfill, std::uint64_t seed)
      : WalkingPlacement(backfill, true), random_(seed) {}
  bool checkpoint(Archive& archive) override {
    archive.value(random_);
    return true;
  }
  std::unique_ptr<PlacementPolicy> clone() const override {
    return std::make_unique<RandomNodes>(*this);
  }

 protected:
  bool find(const View& view, const ClusterState& cluster, const AllocationRequest& request,
            GpuSet& gpus) override {
    nodes_.clear();
    for (const PoolId pool : pools_of(view, cluster, request)) {
      for (const NodeId node : cluster.pool(pool).nodes) {
        if (cluster.free_on(node) > 0) nodes_.push_back(node);
      }
    }
    int left = request.gpus;
    while (left > 0 && !nodes_.empty()) {
      const auto i = static_cast<std::size_t>(random_.below(nodes_.size()));
      const int part = std::min(left, cluster.free_on(nodes_[i]));
      gpus.add(nodes_[i], lowest_bits(cluster.free_mask(nodes_[i]), part));
      left -= part;
      nodes_[i] = nodes_.back();
      nodes_.pop_back();
    }
    return left == 0;
  }

 private:
  Random random_;
  std::vector<NodeId> nodes_;
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

PolicyInfo<PlacementPolicy> random_placement_row() {
  return {"random",
          "nodes drawn at random",
          "folklore",
          {kSeed, kBackfill},
          [](const Params& params) -> std::unique_ptr<PlacementPolicy> {
            return std::make_unique<RandomNodes>(
                params.flag("backfill"), static_cast<std::uint64_t>(params.integer("seed")));
          }};
}

}  // namespace muster
