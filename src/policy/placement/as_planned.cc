#include <algorithm>

#include "policy/builtin.h"
#include "policy/placement/search.h"

namespace muster {
namespace {

// Follows a policy that has chosen the nodes itself (Plan::seat): each turn everybody is where the
// plan says, on the GPUs they had there as far as possible. Shares without seats get what is left,
// on as few nodes as possible; plans without any seats are placed like that as a whole.
class AsPlanned final : public WalkingPlacement {
 public:
  explicit AsPlanned(bool backfill) : WalkingPlacement(backfill, true) {}

  void place(const View& view, const SchedulingTraits& traits, const Plan& plan,
             Draft& draft) override {
    if (plan.seats().empty() || !traits.preemptive) {
      WalkingPlacement::place(view, traits, plan, draft);
      return;
    }
    draft.arrange_all();
    ClusterState trial = draft.cluster();
    for (const Slot slot : view.jobs.running()) {
      const Job& job = view.jobs[slot];
      trial.release(job.gpus, job.spec.partition, job.host);
    }
    sort_seats(view, plan);
    // Who stays on its nodes keeps its GPUs; only then do the others choose.
    places_.assign(plan.shares().size(), {});
    for (const bool staying : {true, false}) {
      for (std::size_t i = 0; i < plan.shares().size(); ++i) {
        const Share& share = plan.shares()[i];
        if (stays(view, share) != staying) continue;
        if (!sit(view, trial, share, places_[i])) continue;
        trial.take(places_[i], view.jobs[share.lead()].spec.partition);
      }
    }
    for (std::size_t i = 0; i < plan.shares().size(); ++i) {
      const Share& share = plan.shares()[i];
      if (places_[i].empty() && find_rest(view, trial, share, places_[i])) {
        trial.take(places_[i], view.jobs[share.lead()].spec.partition);
      }
      if (places_[i].empty()) {
        if (draft.blocked() == nullptr) draft.block(share, why_not_placed(view, trial, share));
        continue;
      }
      draft.arrange(share, places_[i],
                    draft.blocked() != nullptr ? Reason::kBackfilled : Reason::kFirstInOrder);
    }
  }
  std::unique_ptr<PlacementPolicy> clone() const override {
    return std::make_unique<AsPlanned>(*this);
  }

 protected:
  bool find(const View& view, const ClusterState& cluster, const Share& share,
            GpuSet& gpus) override {
    return find_fewest_nodes(cluster, pools_of(view, cluster, share), share.gpus, gpus);
  }

 private:
  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  void sort_seats(const View& view, const Plan& plan) {
    seats_ = &plan.seats();
    ranges_.assign(view.jobs.slots(), {});
    for (std::size_t i = 0; i < seats_->size(); ++i) {
      Range& range = ranges_[index((*seats_)[i].lead)];
      if (range.begin == range.end) range.begin = i;
      range.end = i + 1;
    }
  }
  bool stays(const View& view, const Share& share) const {
    const Job& job = view.jobs[share.lead()];
    const Range range = ranges_[index(share.lead())];
    if (!job.running() || job.gpus.nodes() != static_cast<int>(range.end - range.begin))
      return false;
    for (std::size_t i = range.begin; i < range.end; ++i) {
      bool found = false;
      for (int n = 0; n < job.gpus.nodes(); ++n) {
        found = found ||
                (job.gpus[n].node == (*seats_)[i].node && job.gpus[n].count() == (*seats_)[i].gpus);
      }
      if (!found) return false;
    }
    return true;
  }
  bool sit(const View& view, const ClusterState& trial, const Share& share, GpuSet& gpus) const {
    const Job& job = view.jobs[share.lead()];
    const Range range = ranges_[index(share.lead())];
    if (range.begin == range.end || trial.quota_left(job.spec.partition) < share.gpus) return false;
    const auto pools = pools_of(view, trial, share);
    for (std::size_t i = range.begin; i < range.end; ++i) {
      const Plan::Seat& seat = (*seats_)[i];
      std::uint64_t held = 0;
      for (int n = 0; job.running() && n < job.gpus.nodes(); ++n) {
        if (job.gpus[n].node == seat.node) held = job.gpus[n].mask;
      }
      const std::uint64_t free = trial.free_mask(seat.node);
      const bool allowed =
          std::find(pools.begin(), pools.end(), trial.pool_of(seat.node)) != pools.end();
      if (!allowed || std::popcount(free) < seat.gpus) {
        gpus.clear();
        return false;
      }
      std::uint64_t mask =
          lowest_bits(free & held, std::min(seat.gpus, std::popcount(free & held)));
      mask |= lowest_bits(free & ~held, seat.gpus - std::popcount(mask));
      gpus.add(seat.node, mask);
    }
    if (gpus.gpus() == share.gpus) return true;
    gpus.clear();
    return false;
  }
  bool find_rest(const View& view, const ClusterState& trial, const Share& share, GpuSet& gpus) {
    const Job& job = view.jobs[share.lead()];
    // A seat that is gone (its node failed) is the policy's to replace.
    const Range range = ranges_[index(share.lead())];
    if (range.begin != range.end) return false;
    return trial.free_for(job.spec.partition, type_of(view, share)) >= share.gpus &&
           find(view, trial, share, gpus);
  }

  const std::vector<Plan::Seat>* seats_ = nullptr;
  std::vector<Range> ranges_;  // by slot
  std::vector<GpuSet> places_;
};

}  // namespace

std::unique_ptr<PlacementPolicy> make_as_planned(const Params& params) {
  return std::make_unique<AsPlanned>(params.flag("backfill"));
}

}  // namespace muster
