#include <algorithm>
#include <cmath>

#include "policy/pollux/restart_factor.h"
#include "policy/pollux/search_cadence.h"
#include "policy/pollux/search_options.h"
#include "policy/shared_params.h"
#include "policy/table.h"
#include "solve/allocation_search.h"

namespace muster {
namespace {

// Source: Pollux (OSDI'21). Every so often all GPUs are allocated again, so that a power mean of
// all jobs' speed-ups over their fair part is largest, less what restarts cost. A genetic search
// finds which job gets how many on which nodes.
//
// Speeds are those of the performance model. With `goodput` every job trains at the best batch size
// for its GPUs, which is the co-adaptation that Pollux is about; with any other model only the GPU
// counts adapt. Jobs of a fixed size keep it. It names nodes: use the placement `as-planned`.
//
// Where it departs: a first start is not counted as a restart; the artifact's is `pollux-as-coded`.
class Pollux final : public SchedulingPolicy, private SpeedupSource {
 public:
  Pollux(const SearchOptions& options, std::uint64_t seed, Seconds interval, Seconds restart)
      : search_(options, seed),
        bounded_(options.patience > 0),
        cadence_(interval),
        restart_(restart) {}

  SchedulingTraits traits() const override {
    return {.needs = kNeeds,
            .preemptive = true,
            .stable_between_events = false,
            .work_conserving = false,
            .resizes = true,
            .needs_periodic_turns = true,
            .optimises = true};
  }

  void schedule(const View& view, Plan& plan) override {
    if (cadence_.due(view)) allocate(view, plan);
    for (const Given& given : given_) {
      if (!SearchCadence::stands(view, given.slot, given.id, given.gpus)) continue;
      plan.add(
          AllocationRequest::alone(given.slot, given.gpus, view.jobs[given.slot].spec.gpu_type));
      for (std::size_t n = 0; n < given.by_node.size(); ++n) {
        if (given.by_node[n] == 0) continue;
        plan.hint_node(given.slot, NodeId{static_cast<std::uint32_t>(n)}, given.by_node[n]);
      }
    }
  }
  Seconds wake(const View& view) const override {
    return view.jobs.active().empty() ? kNever : cadence_.next();
  }
  bool checkpoint(Archive& archive) override {
    search_.checkpoint(archive);
    cadence_.checkpoint(archive);
    archive.each(given_, [&archive](Given& one) {
      archive.value(one.slot);
      archive.value(one.id);
      archive.value(one.gpus);
      archive.list(one.by_node);
    });
    return true;
  }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<Pollux>(*this);
  }

 private:
  static constexpr Need kNeeds[] = {
      {Knowledge::kSizes, "every job keeps its size and only its nodes are chosen"},
      {Knowledge::kScaling, "jobs have their least size, as no GPU more is worth anything"}};
  struct Given {
    Slot slot = kNoSlot;
    JobId id = kNoJob;
    int gpus = 0;
    std::vector<int> by_node;
  };

  void allocate(const View& view, Plan& plan) {
    view_ = &view;
    order_.assign(view.jobs.active().begin(), view.jobs.active().end());
    std::stable_sort(order_.begin(), order_.end(), [&](Slot a, Slot b) {
      return view.jobs[a].gpu_seconds_at(view.now) < view.jobs[b].gpu_seconds_at(view.now);
    });
    const std::size_t nodes = view.cluster.node_count();
    node_gpus_.resize(nodes);
    int total = 0;
    for (std::size_t n = 0; n < nodes; ++n) {
      node_gpus_[n] = view.cluster.usable_on(NodeId{static_cast<std::uint32_t>(n)});
      total += node_gpus_[n];
    }
    given_.clear();
    if (order_.empty() || total == 0) return;
    const auto count = static_cast<double>(order_.size());
    fair_ = std::max(1, static_cast<int>(std::ceil(total / count)));
    jobs_.clear();
    base_.clear();
    for (const Slot slot : order_) {
      jobs_.push_back(search_job(view, view.jobs[slot]));
      base_.push_back(rate(slot, 1, fair_));
    }
    const auto& table = search_.run(node_gpus_, jobs_, *this);
    if (bounded_) plan.solved(search_.gap());
    for (std::size_t j = 0; j < order_.size(); ++j) {
      Given given{order_[j], view.jobs[order_[j]].spec.id, 0, table[j]};
      for (const int gpus : given.by_node) given.gpus += gpus;
      if (given.gpus > 0) given_.push_back(std::move(given));
    }
    view_ = nullptr;
  }

  SearchJob search_job(const View& view, const Job& job) const {
    SearchJob wants;
    wants.key = index(job.spec.id);
    wants.least = std::max(1, job.spec.least_gpus());
    wants.most = job.spec.most_gpus();
    wants.held.assign(node_gpus_.size(), 0);
    for (int i = 0; job.running() && i < job.gpus.nodes(); ++i) {
      wants.held[index(job.gpus[i].node)] = job.gpus[i].count();
    }
    wants.restart_factor = restart_factor(job, view.now, restart_);
    const auto pools = view.cluster.pools_for(job.spec.partition, job.spec.gpu_type);
    if (pools.size() < view.cluster.pools().size()) {
      wants.room.assign(node_gpus_.size(), 0);
      for (const PoolId pool : pools) {
        for (const NodeId node : view.cluster.pool(pool).nodes) {
          wants.room[index(node)] = node_gpus_[index(node)];
        }
      }
    }
    return wants;
  }

  double rate(Slot slot, int nodes, int gpus) const {
    RunContext context;
    context.gpus = gpus;
    context.nodes = nodes;
    context.gpu_type = view_->jobs[slot].spec.gpu_type;
    return view_->perf.rate(view_->jobs[slot].spec, context);
  }
  double speedup(std::size_t job, int nodes, int gpus) override {
    return rate(order_[job], nodes, gpus) / base_[job];
  }

  AllocationSearch search_;
  bool bounded_;
  SearchCadence cadence_;
  Seconds restart_;
  int fair_ = 1;
  std::vector<Given> given_;

  const View* view_ = nullptr;  // while GPUs are allocated
  std::vector<Slot> order_;
  std::vector<SearchJob> jobs_;
  std::vector<double> base_;  // rate at the fair part
  std::vector<int> node_gpus_;
};

}  // namespace

SearchOptions search_options(const Params& params) {
  SearchOptions options;
  options.population = static_cast<int>(params.integer("population"));
  options.generations = static_cast<int>(params.integer("generations"));
  options.fairness = params.real("fairness");
  return options;
}

PolicyInfo<SchedulingPolicy> pollux_row() {
  return {"pollux",
          "GPU counts and nodes by a genetic search for the best power mean of speed-ups",
          "Pollux, 2021",
          {kPopulation,
           kGenerations,
           kPatience,
           kFairness,
           kRestartCost,
           {"interval", ParamKind::kReal, "60",
            "shortest time in seconds between two searches; longer while nothing changes", 1},
           kSeed},
          [](const Params& params) -> std::unique_ptr<SchedulingPolicy> {
            SearchOptions options = search_options(params);
            options.first_fit = true;
            options.patience = static_cast<int>(params.integer("patience"));
            return std::make_unique<Pollux>(options,
                                            static_cast<std::uint64_t>(params.integer("seed")),
                                            params.real("interval"), params.real("restart"));
          },
          "Pollux",
          "the paper"};
}

}  // namespace muster
