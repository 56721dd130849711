#include <algorithm>
#include <cmath>

#include "policy/pollux/restart_factor.h"
#include "policy/pollux/search_cadence.h"
#include "policy/shared_params.h"
#include "policy/table.h"
#include "solve/integer_program.h"

namespace muster {
namespace {

// Source: Sia (SOSP'23), after Pollux. A job may run in one of several configurations: a GPU type,
// and on it 1, 2, 4 ... GPUs of one node or a number of whole nodes. Every so often an integer
// program chooses at most one per job, so that the sum of (speed-up)^fairness is best and no type
// is allocated beyond what there is. A speed-up is the rate of a configuration over that of the
// job's slowest one; changing costs as many restarts as the job has had.
//
// Speeds are those of the performance model, types included (`goodput` with `gpu-types`, or
// measured tables). Jobs of a fixed size choose among types only. Where it departs: the original
// lets a job at most double its GPUs in a round, because its estimates are only trusted so far;
// here speeds are known.
class Sia final : public SchedulingPolicy {
 public:
  struct Options {
    double fairness = -0.5;
    double without = 1.1;  // what a job without GPUs counts, with a negative fairness
    Seconds restart = 30;
    Seconds interval = 60;
    IntegerOptions program;
  };
  explicit Sia(const Options& options) : options_(options), cadence_(options.interval) {}

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
      plan.add(AllocationRequest::alone(given.slot, given.gpus, given.type));
    }
  }
  Seconds wake(const View& view) const override {
    return view.jobs.active().empty() ? kNever : cadence_.next();
  }
  bool checkpoint(Archive& archive) override {
    cadence_.checkpoint(archive);
    archive.list(given_);
    return true;
  }
  std::unique_ptr<SchedulingPolicy> clone() const override { return std::make_unique<Sia>(*this); }

 private:
  static constexpr Need kNeeds[] = {
      {Knowledge::kSizes, "every job keeps its size and only its GPU type is chosen"},
      {Knowledge::kScaling, "jobs have their least size, as no GPU more is worth anything"},
      {Knowledge::kGpuTypes, "all GPU types are taken to be equally fast"}};
  struct Given {
    Slot slot = kNoSlot;
    JobId id = kNoJob;
    int gpus = 0;
    Symbol type = kNoSymbol;
  };
  struct Configuration {
    Slot slot = kNoSlot;
    std::size_t pool = 0;
    int gpus = 0;
    int nodes = 1;
    double rate = 0;
    bool present = false;  // what the job has now
  };

  // The configurations of a job on one pool of nodes.
  void list(const View& view, const Job& job, PoolId id) {
    const Pool& pool = view.cluster.pool(id);
    if (pool.usable == 0 || pool.largest == 0) return;
    const int least = job.spec.elastic() ? std::max(1, job.spec.min_gpus) : job.spec.gpus;
    const int most = std::min(pool.usable, job.spec.most_gpus());
    const auto offer = [&](int gpus) {
      if (gpus < least || gpus > most) return;
      Configuration one;
      one.slot = job.self;
      one.pool = index(id);
      one.gpus = gpus;
      one.nodes = (gpus + pool.largest - 1) / pool.largest;
      RunContext context;
      context.gpus = gpus;
      context.nodes = one.nodes;
      context.gpu_type = pool.gpu_type;
      one.rate = view.perf.rate(job.spec, context);
      one.present =
          job.running() && job.gpus.gpus() == gpus && view.cluster.pool_of(job.gpus[0].node) == id;
      configurations_.push_back(one);
    };
    if (!job.spec.elastic()) {
      offer(job.spec.gpus);
      return;
    }
    for (int gpus = 1; gpus < pool.largest; gpus *= 2) offer(gpus);
    for (int gpus = pool.largest; gpus <= most; gpus += pool.largest) offer(gpus);
    // A job whose range holds none of these has its least.
    if (configurations_.empty() || configurations_.back().slot != job.self) offer(least);
  }

  double worth(const Configuration& one, double slowest, double factor) const {
    constexpr double kLeast = 1e-3;  // a job that restarts all the time
    const double speedup = std::max(kLeast, one.rate / slowest * (one.present ? 1 : factor));
    const double powered = std::pow(speedup, options_.fairness);
    return options_.fairness < 0 ? options_.without - powered : powered;
  }

  void allocate(const View& view, Plan& plan) {
    IntegerProgram program;
    configurations_.clear();
    for (const Pool& pool : view.cluster.pools()) program.add_row(0, pool.usable);
    std::vector<std::pair<Symbol, std::size_t>> quotas;
    for (const PartitionSpec& partition : view.cluster.spec().partitions) {
      if (partition.quota <= 0) continue;
      quotas.emplace_back(partition.name, program.add_row(0, partition.quota));
    }
    IntegerOptions options = options_.program;
    for (const Slot slot : view.jobs.active()) {
      const Job& job = view.jobs[slot];
      const std::size_t first = configurations_.size();
      for (const PoolId pool : view.cluster.pools_for(job.spec.partition, job.spec.gpu_type)) {
        list(view, job, pool);
      }
      if (configurations_.size() == first) continue;
      double slowest = configurations_[first].rate;
      for (std::size_t i = first; i < configurations_.size(); ++i) {
        slowest = std::min(slowest, configurations_[i].rate);
      }
      const std::size_t one_only = program.add_row(0, 1);
      const double factor = restart_factor(job, view.now, options_.restart);
      for (std::size_t i = first; i < configurations_.size(); ++i) {
        const Configuration& one = configurations_[i];
        program.add_choice(worth(one, slowest, factor));
        program.add_term(one.pool, one.gpus);
        for (const auto& [name, row] : quotas) {
          if (name == job.spec.partition) program.add_term(row, one.gpus);
        }
        program.add_term(one_only, 1);
        options.start.push_back(one.present ? 1 : 0);
      }
    }
    given_.clear();
    const IntegerSolution solution = solve_integer(program, options);
    if (!configurations_.empty()) plan.solved(solution.gap());
    for (std::size_t i = 0; i < solution.x.size(); ++i) {
      if (solution.x[i] < 0.5) continue;
      const Configuration& one = configurations_[i];
      given_.push_back({one.slot, view.jobs[one.slot].spec.id, one.gpus,
                        view.cluster.pools()[one.pool].gpu_type});
    }
    // The large ones first: they need whole nodes.
    std::stable_sort(given_.begin(), given_.end(),
                     [](const Given& a, const Given& b) { return a.gpus > b.gpus; });
  }

  Options options_;
  SearchCadence cadence_;
  std::vector<Given> given_;
  std::vector<Configuration> configurations_;
};

}  // namespace

PolicyInfo<SchedulingPolicy> sia_row() {
  return {"sia",
          "GPU types and counts by an integer program for the best sum of powers of speed-ups",
          "Sia, 2023",
          {{"fairness", ParamKind::kReal, "-0.5",
            "exponent of a speed-up: 1 is the plain sum; lower values favour slow jobs", -10, 1},
           {"without", ParamKind::kReal, "1.1",
            "with a negative exponent: the term of a job without GPUs; a job at its slowest "
            "configuration has 1",
            1, 100},
           kRestartCost,
           {"interval", ParamKind::kReal, "60",
            "shortest time in seconds between two programs; longer while nothing changes", 1},
           kBranches,
           {"gap", ParamKind::kReal, "1e-4", "largest relative distance from the optimum", 0, 1}},
          [](const Params& params) -> std::unique_ptr<SchedulingPolicy> {
            Sia::Options options;
            options.fairness = params.real("fairness");
            options.without = params.real("without");
            options.restart = params.real("restart");
            options.interval = params.real("interval");
            options.program.branches = static_cast<int>(params.integer("branches"));
            options.program.gap = params.real("gap");
            return std::make_unique<Sia>(options);
          }};
}

}  // namespace muster
