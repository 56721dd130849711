#include <algorithm>

#include "policy/placement/search.h"
#include "policy/shared_params.h"
#include "policy/table.h"

namespace muster {
namespace {

// Source: Tiresias (NSDI'19), profile-guided consolidation. Only jobs that lose more than
// `tolerance` of their speed when spread over nodes insist on few nodes; the others take the
// leftovers and leave whole nodes to jobs that need them.
class ProfileGuided final : public WalkingPlacement {
 public:
  ProfileGuided(bool backfill, double tolerance)
      : WalkingPlacement(backfill, true), tolerance_(tolerance) {}
  PlacementTraits traits() const override { return {.needs = kNeeds}; }
  bool checkpoint(Archive&) override { return true; }
  std::unique_ptr<PlacementPolicy> clone() const override {
    return std::make_unique<ProfileGuided>(*this);
  }

 protected:
  bool find(const View& view, const ClusterState& cluster, const AllocationRequest& request,
            GpuSet& gpus) override {
    const JobSpec& spec = view.jobs[request.lead()].spec;
    const auto pools = pools_of(view, cluster, request);
    if (sensitive(view, spec, request.gpus))
      return find_fewest_nodes(cluster, pools, request.gpus, gpus);
    return find_leftovers(cluster, pools, request.gpus, gpus);
  }

 private:
  static constexpr Need kNeeds[] = {
      {Knowledge::kLocality, "every job may be spread, because none is known to lose speed"}};
  bool sensitive(const View& view, const JobSpec& spec, int gpus) const {
    if (gpus == 1) return false;
    RunContext together;
    together.gpus = gpus;
    RunContext apart = together;
    apart.nodes = gpus;
    return view.perf.rate(spec, apart) < (1 - tolerance_) * view.perf.rate(spec, together);
  }
  // GPUs of the nodes with fewest free ones first.
  static bool find_leftovers(const ClusterState& cluster, std::span<const PoolId> pools, int wanted,
                             GpuSet& gpus) {
    int largest = 0;
    for (const PoolId pool : pools) largest = std::max(largest, cluster.pool(pool).largest);
    int left = wanted;
    for (int free = 1; free <= largest; ++free) {
      for (const PoolId id : pools) {
        if (free > cluster.pool(id).largest) continue;
        const NodeSet& nodes = cluster.pool(id).by_free[static_cast<std::size_t>(free)];
        for (NodeId node = nodes.first(); node != kNoNode; node = nodes.after(node)) {
          const int part = std::min(left, free);
          gpus.add(node, lowest_bits(cluster.free_mask(node), part));
          left -= part;
          if (left == 0) return true;
        }
      }
    }
    gpus.clear();
    return false;
  }

  double tolerance_;
};

}  // namespace

PolicyInfo<PlacementPolicy> profile_guided_row() {
  return {"profile-guided",
          "as few nodes as possible, but only for jobs that lose speed when spread",
          "Tiresias, 2019",
          {{"tolerance", ParamKind::kReal, "0.05", "fraction of speed that a job may lose", 0, 1},
           kBackfill},
          [](const Params& params) -> std::unique_ptr<PlacementPolicy> {
            return std::make_unique<ProfileGuided>(params.flag("backfill"),
                                                   params.real("tolerance"));
          }};
}

}  // namespace muster
