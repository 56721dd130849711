#include <algorithm>

#include "policy/arrangement.h"
#include "policy/placement/search.h"
#include "policy/shared_params.h"
#include "policy/table.h"

namespace muster {
namespace {

// Follows a policy that has chosen the nodes itself (`Plan::NodeHint`): each turn every job is
// where the plan says, on the GPUs that it had there as far as possible. Requests without node
// hints get what is left, on as few nodes as possible; plans without any node hints are placed like
// that as a whole.
class AsPlanned final : public WalkingPlacement {
 public:
  explicit AsPlanned(bool backfill) : WalkingPlacement(backfill, true) {}

  void place(const View& view, const SchedulingTraits& traits, const Plan& plan,
             PlacementDraft& draft) override {
    if (plan.node_hints().empty() || !traits.preemptive) {
      WalkingPlacement::place(view, traits, plan, draft);
      return;
    }
    arrangement_.reset(view);
    ClusterState trial = draft.cluster();
    for (const Slot slot : view.jobs.running()) {
      const Job& job = view.jobs[slot];
      trial.release(job.gpus, job.spec.partition, job.host);
    }
    sort_node_hints(view, plan);
    // A job that stays on its nodes keeps its GPUs; only then do the others choose.
    places_.assign(plan.requests().size(), {});
    for (const bool staying : {true, false}) {
      for (std::size_t i = 0; i < plan.requests().size(); ++i) {
        const AllocationRequest& request = plan.requests()[i];
        if (stays(view, request) != staying) continue;
        if (!sit(view, trial, request, places_[i])) continue;
        take(view, trial, request, places_[i]);
      }
    }
    for (std::size_t i = 0; i < plan.requests().size(); ++i) {
      const AllocationRequest& request = plan.requests()[i];
      if (places_[i].empty() && find_rest(view, trial, request, places_[i])) {
        take(view, trial, request, places_[i]);
      }
      if (places_[i].empty()) {
        if (draft.blocked() == nullptr) draft.block(request, why_not_placed(view, trial, request));
        continue;
      }
      arrangement_.put(request, places_[i],
                       draft.blocked() != nullptr ? Reason::kBackfilled : Reason::kFirstInOrder);
    }
    arrangement_.write(draft);
  }
  bool checkpoint(Archive&) override { return true; }
  std::unique_ptr<PlacementPolicy> clone() const override {
    return std::make_unique<AsPlanned>(*this);
  }

 protected:
  bool find(const View& view, const ClusterState& cluster, const AllocationRequest& request,
            GpuSet& gpus) override {
    return find_fewest_nodes(cluster, pools_of(view, cluster, request), request.gpus, gpus);
  }

 private:
  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  void sort_node_hints(const View& view, const Plan& plan) {
    node_hints_ = &plan.node_hints();
    ranges_.assign(view.jobs.slots(), {});
    for (std::size_t i = 0; i < node_hints_->size(); ++i) {
      Range& range = ranges_[index((*node_hints_)[i].lead)];
      if (range.begin == range.end) range.begin = i;
      range.end = i + 1;
    }
  }
  bool stays(const View& view, const AllocationRequest& request) const {
    const Job& job = view.jobs[request.lead()];
    const Range range = ranges_[index(request.lead())];
    if (!job.running() || job.gpus.nodes() != static_cast<int>(range.end - range.begin))
      return false;
    for (std::size_t i = range.begin; i < range.end; ++i) {
      bool found = false;
      for (int n = 0; n < job.gpus.nodes(); ++n) {
        found = found || (job.gpus[n].node == (*node_hints_)[i].node &&
                          job.gpus[n].count() == (*node_hints_)[i].gpus);
      }
      if (!found) return false;
    }
    return true;
  }
  bool sit(const View& view, const ClusterState& trial, const AllocationRequest& request,
           GpuSet& gpus) const {
    const Job& job = view.jobs[request.lead()];
    const Range range = ranges_[index(request.lead())];
    if (range.begin == range.end || trial.quota_left(job.spec.partition) < request.gpus)
      return false;
    const auto pools = pools_of(view, trial, request);
    for (std::size_t i = range.begin; i < range.end; ++i) {
      const Plan::NodeHint& hint_node = (*node_hints_)[i];
      std::uint64_t held = 0;
      for (int n = 0; job.running() && n < job.gpus.nodes(); ++n) {
        if (job.gpus[n].node == hint_node.node) held = job.gpus[n].mask;
      }
      const std::uint64_t free = trial.free_mask(hint_node.node);
      const bool allowed =
          std::find(pools.begin(), pools.end(), trial.pool_of(hint_node.node)) != pools.end();
      if (!allowed || std::popcount(free) < hint_node.gpus) {
        gpus.clear();
        return false;
      }
      std::uint64_t mask =
          lowest_bits(free & held, std::min(hint_node.gpus, std::popcount(free & held)));
      mask |= lowest_bits(free & ~held, hint_node.gpus - std::popcount(mask));
      gpus.add(hint_node.node, mask);
    }
    const bool room = trial.host_fits(gpus, trial.host_wanted(job.spec));
    if (gpus.gpus() == request.gpus && room) return true;
    gpus.clear();
    return false;
  }
  static void take(const View& view, ClusterState& trial, const AllocationRequest& request,
                   const GpuSet& gpus) {
    const JobSpec& spec = view.jobs[request.lead()].spec;
    trial.take(gpus, spec.partition, trial.host_wanted(spec));
  }
  bool find_rest(const View& view, ClusterState& trial, const AllocationRequest& request,
                 GpuSet& gpus) {
    const Job& job = view.jobs[request.lead()];
    // A node hint that is gone (its node failed) is the policy's to replace. But hints know nothing
    // of CPU cores and memory: a job that asks for them may go elsewhere.
    const HostResources host = trial.host_wanted(job.spec);
    const Range range = ranges_[index(request.lead())];
    if (range.begin != range.end && !host.any()) return false;
    const HostLimit limit(trial, pools_of(view, trial, request), host);
    return trial.free_for(job.spec.partition, type_of(view, request)) >= request.gpus &&
           find(view, trial, request, gpus);
  }

  const std::vector<Plan::NodeHint>* node_hints_ = nullptr;
  std::vector<Range> ranges_;  // by slot
  std::vector<GpuSet> places_;
  Arrangement arrangement_;
};

}  // namespace

PolicyInfo<PlacementPolicy> as_planned_row() {
  return {
      "as-planned",
      "the nodes that the scheduling policy names; as few nodes as possible where it names none",
      "Pollux, 2021",
      {kBackfill},
      [](const Params& params) -> std::unique_ptr<PlacementPolicy> {
        return std::make_unique<AsPlanned>(params.flag("backfill"));
      }};
}

}  // namespace muster
