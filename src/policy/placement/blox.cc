#include <algorithm>

#include "policy/builtin.h"

namespace muster {
namespace {

// Source: Blox (EuroSys'24), the placement that all its scripts use, with its defects; for parity.
//
// Jobs are taken in order. One that runs is skipped. One that does not fit makes the running jobs
// behind it stop, last one first, until it fits. If it never fits, the whole pass ends there:
// nobody behind it is tried, and those who were stopped for it stay stopped. A stopped job may be
// started again later in the same pass.
//
// The search visits nodes in order and takes from each up to the whole demand instead of what is
// still missing; it succeeds only if the sum is exactly the demand after some node. So 2 GPUs are
// not found among free counts 1, 2, 2. `exact_node` is the rule for jobs that carry a placement
// preference: the first node whose free count equals the demand.
class BloxPlacement final : public PlacementPolicy {
 public:
  explicit BloxPlacement(bool exact_node) : exact_node_(exact_node) {}

  void place(const View& view, const SchedulingTraits&, const Plan& plan, Draft& draft) override {
    const std::vector<Share>& shares = plan.shares();
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const Slot job = shares[i].lead();
      if (draft.holds(job)) continue;
      bool placed = try_place(view, shares[i], draft);
      for (std::size_t victim = shares.size(); !placed && --victim > i;) {
        if (!draft.holds(shares[victim].lead())) continue;
        draft.stop(shares[victim].lead(), Reason::kOutranked, view.jobs[job].spec.id);
        placed = try_place(view, shares[i], draft);
      }
      if (placed) continue;
      draft.block(shares[i], why_not_placed(view, draft.cluster(), shares[i]));
      return;
    }
  }
  Plan::Extent extent(const ClusterState&, const SchedulingTraits&) const override {
    return Plan::Extent::kAll;  // victims are taken from the end
  }
  bool settles() const override { return false; }
  std::unique_ptr<PlacementPolicy> clone() const override {
    return std::make_unique<BloxPlacement>(*this);
  }

 private:
  bool try_place(const View& view, const Share& share, Draft& draft) {
    const ClusterState& cluster = draft.cluster();
    const Symbol partition = view.jobs[share.lead()].spec.partition;
    if (cluster.free_for(partition, type_of(view, share)) < share.gpus) return false;
    found_.clear();
    int sum = 0;
    for (const PoolId pool : pools_of(view, cluster, share)) {
      for (const NodeId node : cluster.pool(pool).nodes) {
        const int free = cluster.free_on(node);
        if (free == 0 || (exact_node_ && free != share.gpus)) continue;
        const int part = std::min(free, share.gpus);
        found_.add(node, lowest_bits(cluster.free_mask(node), part));
        sum += part;
        if (sum > share.gpus) return false;
        if (sum < share.gpus) continue;
        for (int i = 1; i < share.size; ++i) {
          const Slot guest = share.jobs[static_cast<std::size_t>(i)];
          if (draft.holds(guest)) draft.stop(guest, Reason::kGrouped);
        }
        draft.start(share, found_, Reason::kFirstInOrder);
        return true;
      }
    }
    return false;
  }

  bool exact_node_;
  GpuSet found_;
};

}  // namespace

std::unique_ptr<PlacementPolicy> make_blox_placement(const Params& params) {
  return std::make_unique<BloxPlacement>(params.flag("exact_node"));
}

}  // namespace muster
