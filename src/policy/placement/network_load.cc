// Placement by network load: the nodes of a job that spans several exchange gradients, and the
// busiest node slows all jobs down.
#include <algorithm>
#include <limits>

#include "policy/shared_params.h"
#include "policy/table.h"

namespace muster {
namespace {

// What a node with `here` of a job's `workers` sends: every worker talks to those elsewhere.
// Weighted with the part of a step that the job spends on the network, where it is known.
double traffic(const JobSpec& job, int here, int workers) {
  const double network = job.stage_ms[static_cast<std::size_t>(Stage::kNetwork)];
  const double weight = job.step_ms > 0 && network > 0 ? network / job.step_ms : 1;
  return weight * here * (workers - here) / workers;
}

// Source: Tiresias (NSDI'19), schemes `balance` and `greedy`, which are stubs there: the first
// needs a commercial solver that is commented out, the second places all jobs and takes nothing. A
// job that fits on a node goes to the one with least traffic. For a larger one, `balance` finds the
// split with the smallest load on the busiest of its nodes; `greedy` places one GPU after the
// other where the load then is least.
class NetworkLoad final : public WalkingPlacement {
 public:
  NetworkLoad(bool backfill, bool exact) : WalkingPlacement(backfill, true), exact_(exact) {}

  void place(const View& view, const SchedulingTraits& traits, const Plan& plan,
             PlacementDraft& draft) override {
    load_.assign(view.cluster.node_count(), 0);
    for (const Slot slot : view.jobs.running()) {
      const Job& job = view.jobs[slot];
      for (int i = 0; i < job.gpus.nodes(); ++i) {
        load_[index(job.gpus[i].node)] += traffic(job.spec, job.gpus[i].count(), job.gpus.gpus());
      }
    }
    WalkingPlacement::place(view, traits, plan, draft);
  }
  PlacementTraits traits() const override { return {.needs = kNeeds}; }
  bool checkpoint(Archive&) override { return true; }
  std::unique_ptr<PlacementPolicy> clone() const override {
    return std::make_unique<NetworkLoad>(*this);
  }

 protected:
  bool find(const View& view, const ClusterState& cluster, const AllocationRequest& request,
            GpuSet& gpus) override {
    const JobSpec& job = view.jobs[request.lead()].spec;
    nodes_.clear();
    for (const PoolId pool : pools_of(view, cluster, request)) {
      for (const NodeId node : cluster.pool(pool).nodes) {
        if (cluster.free_on(node) > 0) nodes_.push_back({node, cluster.free_on(node), 0});
      }
    }
    std::sort(nodes_.begin(), nodes_.end(),
              [](const Node& a, const Node& b) { return a.id < b.id; });
    if (!on_one(request.gpus) &&
        !(exact_ ? balance(job, request.gpus) : greedy(job, request.gpus))) {
      return false;
    }
    for (const Node& node : nodes_) {
      if (node.taken == 0) continue;
      gpus.add(node.id, lowest_bits(cluster.free_mask(node.id), node.taken));
      load_[index(node.id)] += traffic(job, node.taken, request.gpus);
    }
    return true;
  }

 private:
  static constexpr Need kNeeds[] = {
      {Knowledge::kStageTimes, "such a job is taken to be on the network all the time"}};
  struct Node {
    NodeId id;
    int free;
    int taken;
  };

  double load_of(const Node& node) const { return load_[index(node.id)]; }

  bool on_one(int gpus) {
    Node* best = nullptr;
    for (Node& node : nodes_) {
      if (node.free >= gpus && (best == nullptr || load_of(node) < load_of(*best))) best = &node;
    }
    if (best != nullptr) best->taken = gpus;
    return best != nullptr;
  }

  bool greedy(const JobSpec& job, int gpus) {
    for (int left = gpus; left > 0; --left) {
      Node* best = nullptr;
      double least = std::numeric_limits<double>::infinity();
      for (Node& node : nodes_) {
        if (node.taken == node.free) continue;
        const double load = load_of(node) + traffic(job, node.taken + 1, gpus);
        if (load >= least) continue;
        least = load;
        best = &node;
      }
      if (best == nullptr) return false;
      ++best->taken;
    }
    return true;
  }

  // Tries the possible loads of the busiest node by bisection; for each, whether the GPUs can be
  // dealt out below it is a question of sums, answered node by node.
  bool balance(const JobSpec& job, int gpus) {
    std::vector<double> loads;
    for (const Node& node : nodes_) {
      for (int k = 1; k <= std::min(node.free, gpus); ++k) {
        loads.push_back(load_of(node) + traffic(job, k, gpus));
      }
    }
    std::sort(loads.begin(), loads.end());
    if (loads.empty() || !deal(job, gpus, loads.back())) return false;
    std::size_t low = 0;
    std::size_t high = loads.size() - 1;
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (deal(job, gpus, loads[middle])) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return deal(job, gpus, loads[high]);
  }

  // Fills `taken` so that no node used exceeds `most`; false if that cannot be.
  bool deal(const JobSpec& job, int gpus, double most) {
    const auto width = static_cast<std::size_t>(gpus) + 1;
    constexpr int kNot = -1;
    // reach[n][s]: what node n takes in some way to deal out s GPUs to nodes 0..n.
    std::vector<int> reach(nodes_.size() * width, kNot);
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      for (std::size_t sum = 0; sum < width; ++sum) {
        const bool before = n == 0 ? sum == 0 : reach[(n - 1) * width + sum] != kNot;
        if (!before) continue;
        for (int k = 0; k <= nodes_[n].free && sum + static_cast<std::size_t>(k) < width; ++k) {
          if (k > 0 && load_of(nodes_[n]) + traffic(job, k, gpus) > most) continue;
          int& how = reach[n * width + sum + static_cast<std::size_t>(k)];
          how = std::max(how, k);
        }
      }
    }
    auto sum = static_cast<std::size_t>(gpus);
    if (nodes_.empty() || reach[(nodes_.size() - 1) * width + sum] == kNot) return false;
    for (std::size_t n = nodes_.size(); n-- > 0;) {
      nodes_[n].taken = reach[n * width + sum];
      sum -= static_cast<std::size_t>(nodes_[n].taken);
    }
    return true;
  }

  bool exact_;
  std::vector<double> load_;  // by node
  std::vector<Node> nodes_;
};

}  // namespace

PolicyInfo<PlacementPolicy> balance_row() {
  return {"balance",
          "least network load on the busiest node of the job",
          "Tiresias, 2019",
          {kBackfill},
          [](const Params& params) -> std::unique_ptr<PlacementPolicy> {
            return std::make_unique<NetworkLoad>(params.flag("backfill"), true);
          }};
}

PolicyInfo<PlacementPolicy> greedy_row() {
  return {"greedy",
          "one GPU after another, each where it adds least network load",
          "Tiresias, 2019",
          {kBackfill},
          [](const Params& params) -> std::unique_ptr<PlacementPolicy> {
            return std::make_unique<NetworkLoad>(params.flag("backfill"), false);
          }};
}

}  // namespace muster
