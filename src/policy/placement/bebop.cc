#include <array>

#include "policy/placement/search.h"
#include "policy/shared_params.h"
#include "policy/table.h"

namespace muster {
namespace {

// Source: Bebop in Blox (EuroSys'24): the default rule with a throughput predictor. The predictor
// here is the performance model: of several candidate places the one where the job runs fastest is
// taken, and among equals the one that breaks up fewest whole nodes.
class Bebop final : public WalkingPlacement {
 public:
  explicit Bebop(bool backfill) : WalkingPlacement(backfill, true) {}
  PlacementTraits traits() const override { return {.needs = kNeeds}; }
  bool checkpoint(Archive&) override { return true; }
  std::unique_ptr<PlacementPolicy> clone() const override { return std::make_unique<Bebop>(*this); }

 protected:
  bool find(const View& view, const ClusterState& cluster, const AllocationRequest& request,
            GpuSet& gpus) override {
    const JobSpec& spec = view.jobs[request.lead()].spec;
    double best_rate = 0;
    int best_broken = 0;
    // Types may differ in speed, so every pool is a candidate by itself, and all of them together.
    const auto pools = pools_of(view, cluster, request);
    const auto consider = [&](std::span<const PoolId> among) {
      constexpr std::array kSearches = {find_fewest_nodes, find_first_gpus, find_most_nodes};
      for (const auto search : kSearches) {
        candidate_.clear();
        if (!search(cluster, among, request.gpus, candidate_)) continue;
        const double rate = view.perf.rate(spec, run_context_of(cluster, candidate_, {}));
        const int broken = whole_nodes_broken(cluster, candidate_);
        if (rate > best_rate || (rate == best_rate && broken < best_broken)) {
          best_rate = rate;
          best_broken = broken;
          gpus = candidate_;
        }
      }
    };
    if (pools.size() > 1) {
      for (const PoolId& pool : pools) consider(std::span(&pool, 1));
    }
    consider(pools);
    return best_rate > 0;
  }

 private:
  static constexpr Need kNeeds[] = {
      {Knowledge::kLocality, "the place that breaks up fewest whole nodes is taken"}};
  static int whole_nodes_broken(const ClusterState& cluster, const GpuSet& gpus) {
    int broken = 0;
    for (int i = 0; i < gpus.nodes(); ++i) {
      const NodeId node = gpus[i].node;
      const bool whole = cluster.free_on(node) == cluster.node(node).gpus;
      broken += whole && gpus[i].count() < cluster.node(node).gpus ? 1 : 0;
    }
    return broken;
  }

  GpuSet candidate_;
};

}  // namespace

PolicyInfo<PlacementPolicy> bebop_row() {
  return {"bebop",
          "the candidate location where the performance model predicts the highest speed",
          "Blox, 2024",
          {kBackfill},
          [](const Params& params) -> std::unique_ptr<PlacementPolicy> {
            return std::make_unique<Bebop>(params.flag("backfill"));
          }};
}

}  // namespace muster
