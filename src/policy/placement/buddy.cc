#include <algorithm>

#include "policy/builtin.h"
#include "policy/placement/search.h"

namespace muster {
namespace {

// Source: ElasticFlow (ASPLOS'23). A job up to the size of a node gets GPUs of one node, a larger
// one whole nodes. Where enough GPUs are free but not together, jobs move: packed anew, the largest
// first, sizes that are powers of two always fit.
class Buddy final : public WalkingPlacement {
 public:
  explicit Buddy(bool backfill) : WalkingPlacement(backfill) {}
  void place(const View& view, const SchedulingTraits& traits, const Plan& plan,
             Draft& draft) override {
    WalkingPlacement::place(view, traits, plan, draft);
    if (!traits.preemptive) return;
    // Somebody could not have the size it should have, and keeps the one it had.
    const bool other_size =
        traits.resizes &&
        std::any_of(plan.shares().begin(), plan.shares().end(), [&draft](const Share& share) {
          const GpuSet* held = draft.holding(share.lead());
          return held != nullptr && held->gpus() != share.gpus;
        });
    const Draft::Block* block = draft.blocked();
    const bool scattered = block != nullptr && block->reason == Reason::kFragmented;
    if (other_size && pack_anew(view, plan, draft, true)) return;
    if (scattered) pack_anew(view, plan, draft, false);
  }
  bool ever_fits(const ClusterState& cluster, const JobSpec& job, int gpus) const override {
    return WalkingPlacement::ever_fits(cluster, job, gpus) &&
           whole_nodes_exist(cluster, cluster.pools_for(job.partition, job.gpu_type), gpus);
  }
  std::unique_ptr<PlacementPolicy> clone() const override { return std::make_unique<Buddy>(*this); }

 protected:
  bool find(const View& view, const ClusterState& cluster, const Share& share,
            GpuSet& gpus) override {
    return find_whole_nodes(cluster, pools_of(view, cluster, share), share.gpus, gpus);
  }

 private:
  // Everybody of the plan at the size it should have, or else: who holds GPUs keeps as many, on
  // other ones, and who was blocked gets some. Nothing changes unless all of them fit.
  bool pack_anew(const View& view, const Plan& plan, Draft& draft, bool as_planned) {
    ClusterState trial = draft.cluster();
    shares_.clear();
    for (const Share& share : plan.shares()) {
      const GpuSet* held = draft.holding(share.lead());
      if (share.size > 1) return false;  // groups stay where they are
      if (held != nullptr) {
        const int gpus = as_planned ? share.gpus : held->gpus();
        shares_.push_back(Share::alone(share.lead(), gpus, share.gpu_type));
        trial.release(*held, view.jobs[share.lead()].spec.partition, draft.host_of(share.lead()));
      }
    }
    for (const Share& share : plan.shares()) {
      if (draft.holds(share.lead())) continue;
      if (as_planned || why_not_placed(view, draft.cluster(), share) == Reason::kFragmented)
        shares_.push_back(share);
    }
    std::stable_sort(shares_.begin(), shares_.end(),
                     [](const Share& a, const Share& b) { return a.gpus > b.gpus; });
    places_.clear();
    for (const Share& share : shares_) {
      places_.emplace_back();
      if (!find(view, trial, share, places_.back())) return false;
      trial.take(places_.back(), view.jobs[share.lead()].spec.partition, {});
    }
    for (const Share& share : shares_) {
      if (draft.holds(share.lead())) draft.stop(share.lead(), Reason::kConsolidated);
    }
    for (std::size_t i = 0; i < shares_.size(); ++i) {
      draft.start(shares_[i], places_[i], Reason::kConsolidated);
    }
    draft.unblock();
    for (const Share& share : plan.shares()) {
      if (draft.holds(share.lead())) continue;
      draft.block(share, why_not_placed(view, draft.cluster(), share));
      break;
    }
    return true;
  }

  std::vector<Share> shares_;
  std::vector<GpuSet> places_;
};

}  // namespace

std::unique_ptr<PlacementPolicy> make_buddy(const Params& params) {
  return std::make_unique<Buddy>(params.flag("backfill"));
}

}  // namespace muster
