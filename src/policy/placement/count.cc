#include "policy/placement/search.h"
#include "policy/shared_params.h"
#include "policy/table.h"

namespace muster {
namespace {

// Source: Tiresias (NSDI'19), scheme `count`. A job that keeps running stays where it is; the
// others get the lowest-numbered free GPUs, on whatever nodes.
class Count final : public PlacementPolicy {
 public:
  explicit Count(bool backfill) : backfill_(backfill) {}

  void place(const View& view, const SchedulingTraits& traits, const Plan& plan,
             PlacementDraft& draft) override {
    const bool overtake = backfill_ && !traits.strict;
    if (traits.preemptive) stop_the_rest(view, plan, draft, overtake);
    for (const AllocationRequest& request : plan.requests()) {
      if (stays(view, traits, request.lead()) || draft.holds(request.lead())) continue;
      if (!free_members(view, traits, request, draft)) continue;
      const Symbol partition = view.jobs[request.lead()].spec.partition;
      found_.clear();
      const auto limit = draft.limit_to_host(request);
      const bool room =
          draft.cluster().free_for(partition, type_of(view, request)) >= request.gpus &&
          find_first_gpus(draft.cluster(), pools_of(view, draft.cluster(), request), request.gpus,
                          found_);
      if (room) {
        draft.start(request, found_,
                    draft.blocked() != nullptr ? Reason::kBackfilled : Reason::kFirstInOrder);
        continue;
      }
      draft.block(request, why_not_placed(view, draft.cluster(), request));
      if (!overtake) return;
    }
  }
  Plan::Depth depth(const ClusterState& cluster, const SchedulingTraits& traits) const override {
    // Others may pass a job that waits for cores or memory.
    if (!cluster.one_queue() || cluster.host_binds()) return Plan::Depth::kAll;
    return backfill_ && !traits.strict ? Plan::Depth::kUntilFull : Plan::Depth::kUntilBlocked;
  }
  bool checkpoint(Archive&) override { return true; }
  std::unique_ptr<PlacementPolicy> clone() const override { return std::make_unique<Count>(*this); }

 private:
  // A running job that keeps its GPUs needs no search.
  bool stays(const View& view, const SchedulingTraits& traits, Slot slot) const {
    return traits.preemptive && keeps_[index(slot)] == mark_ && view.jobs[slot].running();
  }

  // A group starts as a whole: those of it that run elsewhere stop first, where that is allowed.
  static bool free_members(const View& view, const SchedulingTraits& traits,
                           const AllocationRequest& request, PlacementDraft& draft) {
    for (int i = 1; i < request.size; ++i) {
      const Slot member = request.jobs[static_cast<std::size_t>(i)];
      if (!draft.holds(member)) continue;
      if (!traits.preemptive) return false;
      draft.stop(member, Reason::kGrouped, view.jobs[request.lead()].spec.id);
    }
    return true;
  }

  // Requests in order as far as their number fits; a running job that is not among them stops.
  void stop_the_rest(const View& view, const Plan& plan, PlacementDraft& draft, bool overtake) {
    int left = draft.cluster().usable_gpus();
    keeps_.resize(view.jobs.slots(), 0);
    ++mark_;
    JobId gainer = kNoJob;
    for (const AllocationRequest& request : plan.requests()) {
      if (request.gpus > left) {
        if (!overtake) break;
        continue;
      }
      left -= request.gpus;
      for (int i = 0; i < request.size; ++i) {
        const Slot slot = request.jobs[static_cast<std::size_t>(i)];
        keeps_[index(slot)] = mark_;
        if (gainer == kNoJob && !view.jobs[slot].running()) gainer = view.jobs[slot].spec.id;
      }
    }
    for (const Slot slot : view.jobs.running()) {
      if (keeps_[index(slot)] != mark_) draft.stop(slot, Reason::kOutranked, gainer);
    }
  }

  bool backfill_;
  GpuSet found_;
  std::vector<std::uint32_t> keeps_;  // by slot: the mark of the turn it last kept its GPUs
  std::uint32_t mark_ = 0;
};

}  // namespace

PolicyInfo<PlacementPolicy> count_row() {
  return {"count",
          "any free GPUs; only their number matters",
          "Tiresias, 2019",
          {kBackfill},
          [](const Params& params) -> std::unique_ptr<PlacementPolicy> {
            return std::make_unique<Count>(params.flag("backfill"));
          }};
}

}  // namespace muster
