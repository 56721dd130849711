// A placement rule that is one search for free GPUs (policy/placement/search.h).
#pragma once

#include <memory>

#include "policy/placement.h"
#include "policy/placement/search.h"

namespace muster {

class SearchPlacement final : public WalkingPlacement {
 public:
  using Search = bool (*)(const ClusterState&, std::span<const PoolId>, int, GpuSet&);
  // `one_node`: the search never splits a job across nodes.
  SearchPlacement(bool backfill, Search search, bool one_node = false)
      : WalkingPlacement(backfill, !one_node), search_(search), one_node_(one_node) {}
  bool ever_fits(const ClusterState& cluster, const JobSpec& job, int gpus) const override;
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

}  // namespace muster
