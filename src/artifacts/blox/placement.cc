#include <algorithm>

#include "policy/table.h"

namespace muster {
namespace {

// Source: Blox (EuroSys'24), the placement that all its scripts use, with its defects; for parity.
//
// Jobs are taken in order. One that runs is skipped. One that does not fit makes the running jobs
// behind it stop, last one first, until it fits. If it never fits, the whole pass ends there:
// no job behind it is tried, and jobs that were stopped for it stay stopped. A stopped job may be
// started again later in the same pass.
//
// The search visits nodes in order and takes from each up to the whole demand instead of what is
// still missing; it succeeds only if the sum is exactly the demand after some node. So 2 GPUs are
// not found among free counts 1, 2, 2. `exact_node` is the rule for jobs that carry a placement
// preference: the first node whose free count equals the demand.
class BloxPlacement final : public PlacementPolicy {
 public:
  explicit BloxPlacement(bool exact_node) : exact_node_(exact_node) {}

  void place(const View& view, const SchedulingTraits&, const Plan& plan,
             PlacementDraft& draft) override {
    const std::vector<AllocationRequest>& requests = plan.requests();
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const Slot job = requests[i].lead();
      if (draft.holds(job)) continue;
      bool placed = try_place(view, requests[i], draft);
      for (std::size_t victim = requests.size(); !placed && --victim > i;) {
        if (!draft.holds(requests[victim].lead())) continue;
        draft.stop(requests[victim].lead(), Reason::kOutranked, view.jobs[job].spec.id);
        placed = try_place(view, requests[i], draft);
      }
      if (placed) continue;
      draft.block(requests[i], why_not_placed(view, draft.cluster(), requests[i]));
      return;
    }
  }
  Plan::Depth depth(const ClusterState&, const SchedulingTraits&) const override {
    return Plan::Depth::kAll;  // victims are taken from the end
  }
  PlacementTraits traits() const override {
    return {.stable_between_events = false, .strands = true};
  }
  bool checkpoint(Archive&) override { return true; }
  std::unique_ptr<PlacementPolicy> clone() const override {
    return std::make_unique<BloxPlacement>(*this);
  }

 private:
  bool try_place(const View& view, const AllocationRequest& request, PlacementDraft& draft) {
    const ClusterState& cluster = draft.cluster();
    const auto limit = draft.limit_to_host(request);
    const Symbol partition = view.jobs[request.lead()].spec.partition;
    if (cluster.free_for(partition, type_of(view, request)) < request.gpus) return false;
    found_.clear();
    int sum = 0;
    for (const PoolId pool : pools_of(view, cluster, request)) {
      for (const NodeId node : cluster.pool(pool).nodes) {
        const int free = cluster.free_on(node);
        if (free == 0 || (exact_node_ && free != request.gpus)) continue;
        const int part = std::min(free, request.gpus);
        found_.add(node, lowest_bits(cluster.free_mask(node), part));
        sum += part;
        if (sum > request.gpus) return false;
        if (sum < request.gpus) continue;
        for (int i = 1; i < request.size; ++i) {
          const Slot member = request.jobs[static_cast<std::size_t>(i)];
          if (draft.holds(member)) draft.stop(member, Reason::kGrouped);
        }
        draft.start(request, found_, Reason::kFirstInOrder);
        return true;
      }
    }
    return false;
  }

  bool exact_node_;
  GpuSet found_;
};

}  // namespace

PolicyInfo<PlacementPolicy> blox_placement_row() {
  return {"blox-as-coded",
          "Blox's default placement, defects included",
          "Blox, 2024",
          {{"exact_node", ParamKind::kFlag, "false",
            "use its rule for jobs with a placement preference"}},
          [](const Params& params) -> std::unique_ptr<PlacementPolicy> {
            return std::make_unique<BloxPlacement>(params.flag("exact_node"));
          }};
}

}  // namespace muster
