#include <algorithm>

#include "policy/builtin.h"
#include "policy/placement/search.h"

namespace muster {
namespace {

// Source: Chronus (SoCC'21). Who gets GPUs is decided by the plan; in which order they choose
// theirs is searched: as planned, the largest first, the smallest first, those first who gain most
// from one node. Each takes the tightest node that holds it, else as few as possible; the order
// after which all jobs together are fastest wins, by the speeds of the performance model.
class LocalSearch final : public WalkingPlacement {
 public:
  explicit LocalSearch(bool backfill) : WalkingPlacement(backfill, true) {}

  void place(const View& view, const SchedulingTraits& traits, const Plan& plan,
             Draft& draft) override {
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
  std::unique_ptr<PlacementPolicy> clone() const override {
    return std::make_unique<LocalSearch>(*this);
  }

 protected:
  bool find(const View& view, const ClusterState& cluster, const Share& share,
            GpuSet& gpus) override {
    return find_fewest_nodes(cluster, pools_of(view, cluster, share), share.gpus, gpus);
  }

 private:
  // What each GPU of the share does, there.
  static double reward(const View& view, const Share& share, int nodes) {
    Footing footing;
    footing.gpus = share.gpus;
    footing.nodes = nodes;
    footing.gpu_type = type_of(view, share);
    return share.gpus * view.perf.rate(view.jobs[share.lead()].spec, footing);
  }

  // Everything that would be placed, as it is and in three other orders; nothing where there is no
  // choice. Copies of the cluster are tried on: nobody else may be in the draft yet.
  std::vector<Plan> candidates(const View& view, const SchedulingTraits& traits, const Plan& plan,
                               const Draft& draft) {
    if (!draft.steps().empty()) return {};
    ClusterState cluster = draft.cluster();
    Draft trial(view.jobs, cluster);
    trial.reset();
    WalkingPlacement::place(view, traits, plan, trial);
    std::vector<Share> placed;
    std::vector<Share> rest;
    int choosers = 0;
    for (const Share& share : plan.shares()) {
      const bool holds = trial.holds(share.lead());
      (holds ? placed : rest).push_back(share);
      if (holds && share.gpus > 1 && !view.jobs[share.lead()].running()) ++choosers;
    }
    if (choosers < 2) return {};
    std::vector<Plan> orders;
    const auto add = [&](auto before) {
      std::vector<Share> sorted = placed;
      std::stable_sort(sorted.begin(), sorted.end(), before);
      orders.emplace_back();
      orders.back().reset(cluster.usable_gpus(), Plan::Extent::kAll);
      for (const Share& share : sorted) orders.back().add(share);
      for (const Share& share : rest) orders.back().add(share);
    };
    const auto spread = [&view](const Share& share) {
      return reward(view, share, 1) - reward(view, share, std::min(share.gpus, 2));
    };
    add([](const Share& a, const Share& b) { return a.gpus > b.gpus; });
    add([](const Share& a, const Share& b) { return a.gpus < b.gpus; });
    add([&](const Share& a, const Share& b) { return spread(a) > spread(b); });
    return orders;
  }

  double reward_of(const View& view, const SchedulingTraits& traits, const Plan& plan,
                   const Draft& draft) {
    ClusterState cluster = draft.cluster();
    Draft trial(view.jobs, cluster);
    trial.reset();
    WalkingPlacement::place(view, traits, plan, trial);
    double sum = 0;
    for (const Share& share : plan.shares()) {
      const GpuSet* held = trial.holding(share.lead());
      if (held != nullptr) sum += reward(view, share, held->nodes());
    }
    return sum;
  }
};

}  // namespace

std::unique_ptr<PlacementPolicy> make_local_search(const Params& params) {
  return std::make_unique<LocalSearch>(params.flag("backfill"));
}

}  // namespace muster
