#include <algorithm>

#include "policy/placement/search.h"
#include "policy/shared_params.h"
#include "policy/table.h"

namespace muster {
namespace {

// Source: ElasticFlow (ASPLOS'23). A job up to the size of a node gets GPUs of one node, a larger
// one whole nodes. Where enough GPUs are free but not together (external fragmentation), jobs move:
// packed anew, the largest first, sizes that are powers of two always fit, as in a buddy allocator
// (Knowlton, 1965).
class Buddy final : public WalkingPlacement {
 public:
  explicit Buddy(bool backfill) : WalkingPlacement(backfill) {}
  void place(const View& view, const SchedulingTraits& traits, const Plan& plan,
             PlacementDraft& draft) override {
    WalkingPlacement::place(view, traits, plan, draft);
    if (!traits.preemptive) return;
    // A job could not have the size that it should have, and keeps the one it had.
    const bool other_size =
        traits.resizes && std::any_of(plan.requests().begin(), plan.requests().end(),
                                      [&draft](const AllocationRequest& request) {
                                        const GpuSet* held = draft.holding(request.lead());
                                        return held != nullptr && held->gpus() != request.gpus;
                                      });
    const PlacementDraft::Block* block = draft.blocked();
    const bool scattered = block != nullptr && block->reason == Reason::kFragmented;
    if (other_size && pack_anew(view, plan, draft, true)) return;
    if (scattered) pack_anew(view, plan, draft, false);
  }
  bool ever_fits(const ClusterState& cluster, const JobSpec& job, int gpus) const override {
    return WalkingPlacement::ever_fits(cluster, job, gpus) && whole_nodes_exist(cluster, job, gpus);
  }
  bool checkpoint(Archive&) override { return true; }
  std::unique_ptr<PlacementPolicy> clone() const override { return std::make_unique<Buddy>(*this); }

 protected:
  bool find(const View& view, const ClusterState& cluster, const AllocationRequest& request,
            GpuSet& gpus) override {
    return find_whole_nodes(cluster, pools_of(view, cluster, request), request.gpus, gpus);
  }

 private:
  // Every job of the plan at the size it should have, or else: a job that holds GPUs keeps as many,
  // on other ones, and a job that was blocked gets some. Nothing changes unless all of them fit.
  // Largest first, on a copy of the cluster: O(jobs log jobs), and a search for nodes for each job.
  bool pack_anew(const View& view, const Plan& plan, PlacementDraft& draft, bool as_planned) {
    ClusterState trial = draft.cluster();
    requests_.clear();
    for (const AllocationRequest& request : plan.requests()) {
      const GpuSet* held = draft.holding(request.lead());
      const Slot lead = request.lead();
      // Groups stay where they are, also those that the plan takes apart: a member's GPUs are not
      // free when it leaves.
      if (request.size > 1 || view.jobs[lead].next_co_located != lead) return false;
      if (held != nullptr) {
        const int gpus = as_planned ? request.gpus : held->gpus();
        requests_.push_back(AllocationRequest::alone(request.lead(), gpus, request.gpu_type));
        trial.release(*held, view.jobs[request.lead()].spec.partition,
                      draft.host_of(request.lead()));
      }
    }
    for (const AllocationRequest& request : plan.requests()) {
      if (draft.holds(request.lead())) continue;
      if (as_planned || why_not_placed(view, draft.cluster(), request) == Reason::kFragmented)
        requests_.push_back(request);
    }
    // First fit decreasing: with sizes that are powers of two and nodes of a power of two no GPU is
    // lost to fragmentation.
    std::stable_sort(
        requests_.begin(), requests_.end(),
        [](const AllocationRequest& a, const AllocationRequest& b) { return a.gpus > b.gpus; });
    places_.clear();
    for (const AllocationRequest& request : requests_) {
      places_.emplace_back();
      const JobSpec& spec = view.jobs[request.lead()].spec;
      const HostResources host = trial.host_wanted(spec);
      const HostLimit limit(trial, pools_of(view, trial, request), host);
      if (!find(view, trial, request, places_.back())) return false;
      trial.take(places_.back(), spec.partition, host);
    }
    for (const AllocationRequest& request : requests_) {
      if (draft.holds(request.lead())) draft.stop(request.lead(), Reason::kConsolidated);
    }
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      draft.start(requests_[i], places_[i], Reason::kConsolidated);
    }
    draft.unblock();
    for (const AllocationRequest& request : plan.requests()) {
      if (draft.holds(request.lead())) continue;
      draft.block(request, why_not_placed(view, draft.cluster(), request));
      break;
    }
    return true;
  }

  std::vector<AllocationRequest> requests_;
  std::vector<GpuSet> places_;
};

}  // namespace

PolicyInfo<PlacementPolicy> buddy_row() {
  return {"buddy",
          "one node, or whole nodes for larger jobs; moves jobs to defragment free GPUs",
          "ElasticFlow, 2023",
          {kBackfill},
          [](const Params& params) -> std::unique_ptr<PlacementPolicy> {
            return std::make_unique<Buddy>(params.flag("backfill"));
          }};
}

}  // namespace muster
