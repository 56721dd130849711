#include <algorithm>

#include "base/random.h"
#include "policy/shared_params.h"
#include "policy/table.h"

namespace muster {
namespace {

// Source: Tiresias (NSDI'19), scheme `crandom`. On one node, drawn from those with room; a job
// larger than a node gets idle nodes and one more for the rest, all drawn; where that fails, its
// GPUs are drawn one by one from all nodes. Scheme `random` draws them so in any case.
class ConsolidatedRandom final : public WalkingPlacement {
 public:
  ConsolidatedRandom(const Params& params, bool consolidate)
      : WalkingPlacement(params.flag("backfill"), true),
        random_(static_cast<std::uint64_t>(params.integer("seed")), "placement"),
        consolidate_(consolidate) {}
  bool checkpoint(Archive& archive) override {
    archive.value(random_);
    return true;
  }
  std::unique_ptr<PlacementPolicy> clone() const override {
    return std::make_unique<ConsolidatedRandom>(*this);
  }

 protected:
  bool find(const View& view, const ClusterState& cluster, const AllocationRequest& request,
            GpuSet& gpus) override {
    nodes_.clear();
    int size = 0;
    for (const PoolId pool : pools_of(view, cluster, request)) {
      size = std::max(size, cluster.pool(pool).largest);
      for (const NodeId node : cluster.pool(pool).nodes) {
        if (cluster.free_on(node) > 0) nodes_.push_back(node);
      }
    }
    random_.shuffle(nodes_);
    if (consolidate_ && consolidated(cluster, request.gpus, size, gpus)) return true;
    gpus.clear();
    return one_by_one(cluster, request.gpus, gpus);
  }

 private:
  bool consolidated(const ClusterState& cluster, int wanted, int size, GpuSet& gpus) const {
    int whole = size > 0 ? wanted / size : 0;
    int rest = size > 0 ? wanted % size : wanted;
    if (wanted <= size) {
      whole = 0;
      rest = wanted;
    }
    for (const NodeId node : nodes_) {
      const int free = cluster.free_on(node);
      if (whole > 0 && free == size) {
        gpus.add(node, cluster.free_mask(node));
        --whole;
      } else if (rest > 0 && free >= rest) {
        gpus.add(node, lowest_bits(cluster.free_mask(node), rest));
        rest = 0;
      }
    }
    return whole == 0 && rest == 0;
  }

  bool one_by_one(const ClusterState& cluster, int wanted, GpuSet& gpus) {
    std::vector<std::size_t> node_hints;  // a node per free GPU
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      node_hints.insert(node_hints.end(), static_cast<std::size_t>(cluster.free_on(nodes_[i])), i);
    }
    if (node_hints.size() < static_cast<std::size_t>(wanted)) return false;
    random_.shuffle(node_hints);
    std::vector<int> taken(nodes_.size(), 0);
    for (int i = 0; i < wanted; ++i) ++taken[node_hints[static_cast<std::size_t>(i)]];
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (taken[i] > 0) gpus.add(nodes_[i], lowest_bits(cluster.free_mask(nodes_[i]), taken[i]));
    }
    return true;
  }

  Random random_;
  bool consolidate_;
  std::vector<NodeId> nodes_;
};

}  // namespace

PolicyInfo<PlacementPolicy> consolidated_random_row() {
  return {"consolidated-random",
          "a node drawn at random, or idle nodes; spread at random where that fails",
          "Tiresias, 2019",
          {kSeed, kBackfill},
          [](const Params& params) -> std::unique_ptr<PlacementPolicy> {
            return std::make_unique<ConsolidatedRandom>(params, true);
          }};
}

PolicyInfo<PlacementPolicy> random_gpus_row() {
  return {"random-gpus",
          "a node drawn at random for every GPU",
          "Tiresias, 2019",
          {kSeed, kBackfill},
          [](const Params& params) -> std::unique_ptr<PlacementPolicy> {
            return std::make_unique<ConsolidatedRandom>(params, false);
          }};
}

}  // namespace muster
