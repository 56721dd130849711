#include <algorithm>

#include "base/random.h"
#include "policy/shared_params.h"
#include "policy/table.h"

namespace muster {
namespace {

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
