#include "policy/builtin.h"
#include "policy/placement/search.h"

namespace muster {
namespace {

// Source: Tiresias (NSDI'19), scheme `count`. Who keeps running stays where it is; the others get
// the lowest-numbered free GPUs, on whatever nodes.
class Count final : public PlacementPolicy {
 public:
  explicit Count(bool backfill) : backfill_(backfill) {}

  void place(const View& view, const SchedulingTraits& traits, const Plan& plan,
             Draft& draft) override {
    const bool overtake = backfill_ && !traits.strict;
    if (traits.preemptive) stop_the_rest(view, plan, draft, overtake);
    for (const Share& share : plan.shares()) {
      if (stays(view, traits, share.lead()) || draft.holds(share.lead())) continue;
      if (!free_members(view, traits, share, draft)) continue;
      const Symbol partition = view.jobs[share.lead()].spec.partition;
      found_.clear();
      const bool room = draft.cluster().free_for(partition, type_of(view, share)) >= share.gpus &&
                        find_first_gpus(draft.cluster(), pools_of(view, draft.cluster(), share),
                                        share.gpus, found_);
      if (room) {
        draft.start(share, found_,
                    draft.blocked() != nullptr ? Reason::kBackfilled : Reason::kFirstInOrder);
        continue;
      }
      draft.block(share, why_not_placed(view, draft.cluster(), share));
      if (!overtake) return;
    }
  }
  Plan::Extent extent(const ClusterState& cluster, const SchedulingTraits& traits) const override {
    if (!cluster.one_queue()) return Plan::Extent::kAll;
    return backfill_ && !traits.strict ? Plan::Extent::kUntilFull : Plan::Extent::kUntilBlocked;
  }
  std::unique_ptr<PlacementPolicy> clone() const override { return std::make_unique<Count>(*this); }

 private:
  // Whoever keeps its GPUs and has some is settled at a glance.
  bool stays(const View& view, const SchedulingTraits& traits, Slot slot) const {
    return traits.preemptive && keeps_[index(slot)] == mark_ && view.jobs[slot].running();
  }

  // A group starts as a whole: those of it that run elsewhere stop first, where that is allowed.
  static bool free_members(const View& view, const SchedulingTraits& traits, const Share& share,
                           Draft& draft) {
    for (int i = 1; i < share.size; ++i) {
      const Slot member = share.jobs[static_cast<std::size_t>(i)];
      if (!draft.holds(member)) continue;
      if (!traits.preemptive) return false;
      draft.stop(member, Reason::kGrouped, view.jobs[share.lead()].spec.id);
    }
    return true;
  }

  // Shares in order as far as their number fits; whoever runs and is not among them stops.
  void stop_the_rest(const View& view, const Plan& plan, Draft& draft, bool overtake) {
    int left = draft.cluster().usable_gpus();
    keeps_.resize(view.jobs.slots(), 0);
    ++mark_;
    JobId gainer = kNoJob;
    for (const Share& share : plan.shares()) {
      if (share.gpus > left) {
        if (!overtake) break;
        continue;
      }
      left -= share.gpus;
      for (int i = 0; i < share.size; ++i) {
        const Slot slot = share.jobs[static_cast<std::size_t>(i)];
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

std::unique_ptr<PlacementPolicy> make_count(const Params& params) {
  return std::make_unique<Count>(params.flag("backfill"));
}

}  // namespace muster
