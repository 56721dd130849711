#include <algorithm>

#include "policy/placement/search.h"
#include "policy/shared_params.h"
#include "policy/table.h"

namespace muster {
namespace {

// Source: Chronus (SoCC'21). Which jobs get GPUs is decided by the plan; in which order they choose
// theirs is searched: as planned, the largest first, the smallest first, those first that gain most
// from one node. Each takes the tightest node that holds it, else as few as possible; the order
// after which all jobs together are fastest wins, by the speeds of the performance model.
class LocalSearch final : public WalkingPlacement {
 public:
  explicit LocalSearch(bool backfill) : WalkingPlacement(backfill, true) {}

  void place(const View& view, const SchedulingTraits& traits, const Plan& plan,
             PlacementDraft& draft) override {
    const std::vector<Plan> orders = candidates(view, traits, plan, draft);
    if (orders.empty()) {
      WalkingPlacement::place(view, traits, plan, draft);
      return;
    }
    const Plan* best = &plan;
    double most = reward_of(view, traits, plan, draft);
    for (const Plan& order : orders) {
      const double reward = reward_of(view, traits, order, draft);
      if (reward <= most) continue;
      most = reward;
      best = &order;
    }
    WalkingPlacement::place(view, traits, *best, draft);
  }
  PlacementTraits traits() const override { return {.needs = kNeeds}; }
  bool checkpoint(Archive&) override { return true; }
  std::unique_ptr<PlacementPolicy> clone() const override {
    return std::make_unique<LocalSearch>(*this);
  }

 protected:
  bool find(const View& view, const ClusterState& cluster, const AllocationRequest& request,
            GpuSet& gpus) override {
    return find_fewest_nodes(cluster, pools_of(view, cluster, request), request.gpus, gpus);
  }

 private:
  static constexpr Need kNeeds[] = {
      {Knowledge::kLocality, "all orders are equally good: it is consolidated"}};
  // What each GPU of the request does, there.
  static double reward(const View& view, const AllocationRequest& request, int nodes) {
    RunContext context;
    context.gpus = request.gpus;
    context.nodes = nodes;
    context.gpu_type = type_of(view, request);
    return request.gpus * view.perf.rate(view.jobs[request.lead()].spec, context);
  }

  // Everything that would be placed, as it is and in three other orders; nothing where there is no
  // choice. Copies of the cluster are tried on: no other job may be in the draft yet.
  std::vector<Plan> candidates(const View& view, const SchedulingTraits& traits, const Plan& plan,
                               const PlacementDraft& draft) {
    if (!draft.steps().empty()) return {};
    ClusterState cluster = draft.cluster();
    PlacementDraft trial(view.jobs, cluster);
    trial.reset();
    WalkingPlacement::place(view, traits, plan, trial);
    std::vector<AllocationRequest> placed;
    std::vector<AllocationRequest> rest;
    int choosers = 0;
    for (const AllocationRequest& request : plan.requests()) {
      const bool holds = trial.holds(request.lead());
      (holds ? placed : rest).push_back(request);
      if (holds && request.gpus > 1 && !view.jobs[request.lead()].running()) ++choosers;
    }
    if (choosers < 2) return {};
    std::vector<Plan> orders;
    const auto add = [&](auto before) {
      std::vector<AllocationRequest> sorted = placed;
      std::stable_sort(sorted.begin(), sorted.end(), before);
      orders.emplace_back();
      orders.back().reset(cluster.usable_gpus(), Plan::Depth::kAll);
      for (const AllocationRequest& request : sorted) orders.back().add(request);
      for (const AllocationRequest& request : rest) orders.back().add(request);
    };
    const auto spread = [&view](const AllocationRequest& request) {
      return reward(view, request, 1) - reward(view, request, std::min(request.gpus, 2));
    };
    add([](const AllocationRequest& a, const AllocationRequest& b) { return a.gpus > b.gpus; });
    add([](const AllocationRequest& a, const AllocationRequest& b) { return a.gpus < b.gpus; });
    add([&](const AllocationRequest& a, const AllocationRequest& b) {
      return spread(a) > spread(b);
    });
    return orders;
  }

  double reward_of(const View& view, const SchedulingTraits& traits, const Plan& plan,
                   const PlacementDraft& draft) {
    ClusterState cluster = draft.cluster();
    PlacementDraft trial(view.jobs, cluster);
    trial.reset();
    WalkingPlacement::place(view, traits, plan, trial);
    double sum = 0;
    for (const AllocationRequest& request : plan.requests()) {
      const GpuSet* held = trial.holding(request.lead());
      if (held != nullptr) sum += reward(view, request, held->nodes());
    }
    return sum;
  }
};

}  // namespace

PolicyInfo<PlacementPolicy> local_search_row() {
  return {"local-search",
          "as few nodes as possible, in the order of jobs that gives the highest total speed",
          "Chronus, 2021",
          {kBackfill},
          [](const Params& params) -> std::unique_ptr<PlacementPolicy> {
            return std::make_unique<LocalSearch>(params.flag("backfill"));
          }};
}

}  // namespace muster
