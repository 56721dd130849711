// Gavel's policies as rows of the table of scheduling policies: each an allocator in rounds.
#include "policy/gavel/rows.h"

#include <array>
#include <utility>

#include "policy/gavel/simple_allocators.h"
#include "policy/gavel/split.h"
#include "policy/table.h"

namespace muster {
namespace {

// Makers of one shape, as the table wants them.
template <std::unique_ptr<Allocator> (*Make)(const ProgramOptions&)>
std::unique_ptr<Allocator> solved(const Params&, const ProgramOptions& options) {
  return Make(options);
}
template <bool ByCost, bool Deadlines>
std::unique_ptr<Allocator> summed(const Params&, const ProgramOptions& options) {
  return make_gavel_sum(options, {ByCost, Deadlines});
}
std::unique_ptr<Allocator> filled(const Params& params, const ProgramOptions& options) {
  return make_gavel_water_filling(options, water_options(params));
}

// What a policy goes by; where it is not known, the sentence says what is taken instead. A length
// has none: it must be known, if only as an estimate.
constexpr Need kLength{Knowledge::kDuration};
constexpr Need kType{Knowledge::kGpuTypes, "all GPU types are taken to be equally fast"};
constexpr Need kPair{Knowledge::kPairs, "jobs that share GPUs are taken not to slow down"};
constexpr Need kPrice{Knowledge::kPrices, "all GPU types are taken to cost the same"};
constexpr Need kDeadline{Knowledge::kDeadline, "no job is held to a deadline"};

constexpr Need kTypes[] = {kType};
constexpr Need kPairs[] = {kType, kPair};
constexpr Need kLengths[] = {kLength};
constexpr Need kLengthsAndTypes[] = {kLength, kType};
constexpr Need kLengthsAndPairs[] = {kLength, kType, kPair};
constexpr Need kCosts[] = {kType, kPrice};
constexpr Need kDeadlines[] = {kLength, kType, kPrice, kDeadline};
constexpr Need kDeadlinesAndPairs[] = {kLength, kType, kPair, kPrice, kDeadline};

void add_threshold(ParamList& params) {
  params.push_back({"threshold", ParamKind::kReal, "1.5",
                    "two jobs may share GPUs if the sum of their speeds, relative to running "
                    "alone, exceeds this",
                    0});
}
void add_alpha(ParamList& params) {
  params.push_back({"alpha", ParamKind::kReal, "1",
                    "fraction of the waiting jobs, longest waiting first, that is assigned", 0, 1});
}
void add_entities(ParamList& params) {
  params.push_back({"entities", ParamKind::kReals, "",
                    "weights of users as entities, in the order of their first jobs, as in "
                    "1:3:2; empty: no entities",
                    1e-9, 1e9});
  params.push_back({"fifo_entities", ParamKind::kReals, "",
                    "entities, counted from 1, that serve their jobs first come, first served; "
                    "the others are fair",
                    1, 1e9});
}

constexpr std::array kAllocators = {
    AllocatorInfo{
        .name = "gavel-isolated",
        .sentence = "an equal fraction of every GPU type for every job",
        .make = [](const Params&, const ProgramOptions&) { return make_gavel_isolated(); },
        .draws = true},
    AllocatorInfo{
        .name = "gavel-proportional",
        .sentence =
            "every job runs all the time, on each type in proportion to its part of the cluster",
        .make = [](const Params&, const ProgramOptions&) { return make_gavel_proportional(); },
        .draws = true},
    AllocatorInfo{.name = "gavel-fifo",
                  .sentence = "first come, first served, on a GPU type drawn at random",
                  .make =
                      [](const Params& p, const ProgramOptions&) {
                        return make_gavel_fifo(FifoMode::kAnyType, p.integer("seed"), 0);
                      },
                  .draws = true},
    AllocatorInfo{
        .name = "gavel-fifo-perf",
        .sentence = "first come, first served, on the free GPU type where the job is fastest",
        .make = [](const Params&,
                   const ProgramOptions&) { return make_gavel_fifo(FifoMode::kBestType, 0, 0); },
        .needs = kTypes},
    AllocatorInfo{.name = "gavel-fifo-packed",
                  .sentence = "as gavel-fifo-perf; a job that finds no free GPUs shares those of "
                              "another where that pays",
                  .make =
                      [](const Params& p, const ProgramOptions&) {
                        return make_gavel_fifo(FifoMode::kPacked, 0, p.real("threshold"));
                      },
                  .needs = kPairs,
                  .packs = true,
                  .own_params = add_threshold},
    AllocatorInfo{
        .name = "gavel-gandiva",
        .sentence = "equal fractions for random pairs of jobs, kept while they do not slow each "
                    "other too much",
        .make = [](const Params& p,
                   const ProgramOptions&) { return make_gavel_gandiva(p.integer("seed")); },
        .needs = kPairs,
        .packs = true,
        .draws = true,
        .system = "Gandiva"},
    AllocatorInfo{
        .name = "gavel-allox",
        .sentence = "least sum of completion times, by assigning jobs to the queues of free GPUs",
        .make = [](const Params& p,
                   const ProgramOptions&) { return make_gavel_allox(p.real("alpha")); },
        .needs = kLengthsAndTypes,
        .system = "AlloX",
        .own_params = add_alpha},
    AllocatorInfo{.name = "gavel-max-min-fairness",
                  .sentence = "max-min fairness: the smallest normalised throughput is as large as "
                              "possible; all GPU types count as equally fast",
                  .make = solved<make_gavel_max_min>,
                  .sight = Sight::kAgnostic,
                  .solves = Solves::kLinear,
                  .draws = true},
    AllocatorInfo{.name = "gavel-max-min-fairness-perf",
                  .sentence = "max-min fairness: the smallest normalised throughput is as large as "
                              "possible; by the rates of each type",
                  .make = solved<make_gavel_max_min>,
                  .solves = Solves::kLinear,
                  .goal = Goal::kLeastByPart,
                  .needs = kTypes},
    AllocatorInfo{.name = "gavel-max-min-fairness-packed",
                  .sentence = "max-min fairness: the smallest normalised throughput is as large as "
                              "possible; by the rates of each type and of co-located pairs",
                  .make = solved<make_gavel_max_min>,
                  .sight = Sight::kPairs,
                  .solves = Solves::kLinear,
                  .goal = Goal::kLeastByPart,
                  .needs = kPairs,
                  .packs = true},
    AllocatorInfo{
        .name = "gavel-max-min-fairness-water-filling",
        .sentence =
            "lexicographic max-min fairness by water filling; all GPU types count as equally fast",
        .make = filled,
        .sight = Sight::kAgnostic,
        .solves = Solves::kLinear,
        .draws = true,
        .own_params = add_entities},
    AllocatorInfo{
        .name = "gavel-max-min-fairness-water-filling-perf",
        .sentence = "lexicographic max-min fairness by water filling; by the rates of each type",
        .make = filled,
        .solves = Solves::kLinear,
        .needs = kTypes,
        .own_params = add_entities},
    AllocatorInfo{.name = "gavel-max-min-fairness-water-filling-packed",
                  .sentence = "lexicographic max-min fairness by water filling; by the rates of "
                              "each type and of co-located pairs",
                  .make = filled,
                  .sight = Sight::kPairs,
                  .solves = Solves::kLinear,
                  .needs = kPairs,
                  .packs = true,
                  .own_params = add_entities},
    AllocatorInfo{.name = "gavel-finish-time-fairness",
                  .sentence = "finish-time fairness: the largest rho is as small as possible; all "
                              "GPU types count as equally fast",
                  .make = solved<make_gavel_finish_time>,
                  .sight = Sight::kAgnostic,
                  .solves = Solves::kLinear,
                  .goal = Goal::kLeastByIsolated,
                  .needs = kLengths,
                  .draws = true,
                  .system = "Themis"},
    AllocatorInfo{.name = "gavel-finish-time-fairness-perf",
                  .sentence = "finish-time fairness: the largest rho is as small as possible; by "
                              "the rates of each type",
                  .make = solved<make_gavel_finish_time>,
                  .solves = Solves::kLinear,
                  .goal = Goal::kLeastByIsolated,
                  .needs = kLengthsAndTypes,
                  .system = "Themis"},
    AllocatorInfo{.name = "gavel-finish-time-fairness-packed",
                  .sentence = "finish-time fairness: the largest rho is as small as possible; by "
                              "the rates of each type and of co-located pairs",
                  .make = solved<make_gavel_finish_time>,
                  .sight = Sight::kPairs,
                  .solves = Solves::kLinear,
                  .goal = Goal::kLeastByIsolated,
                  .needs = kLengthsAndPairs,
                  .packs = true,
                  .system = "Themis"},
    AllocatorInfo{.name = "gavel-max-min-fairness-strategy-proof",
                  .sentence =
                      "largest product of normalised throughputs; each job gives up a fraction so "
                      "that lying does not pay; all GPU types count as equally fast",
                  .make = solved<make_gavel_strategy_proof>,
                  .sight = Sight::kAgnostic,
                  .solves = Solves::kConcave,
                  .draws = true},
    AllocatorInfo{.name = "gavel-max-min-fairness-strategy-proof-perf",
                  .sentence = "largest product of normalised throughputs; each job gives up a "
                              "fraction so that lying does not pay; by the rates of each type",
                  .make = solved<make_gavel_strategy_proof>,
                  .solves = Solves::kConcave,
                  .needs = kTypes},
    AllocatorInfo{
        .name = "gavel-min-total-duration",
        .sentence = "least makespan of the jobs at hand; all GPU types count as equally fast",
        .make = solved<make_gavel_makespan>,
        .sight = Sight::kAgnostic,
        .solves = Solves::kLinear,
        .goal = Goal::kLeastBySteps,
        .needs = kLengths,
        .draws = true},
    AllocatorInfo{.name = "gavel-min-total-duration-perf",
                  .sentence = "least makespan of the jobs at hand; by the rates of each type",
                  .make = solved<make_gavel_makespan>,
                  .solves = Solves::kLinear,
                  .goal = Goal::kLeastBySteps,
                  .needs = kLengthsAndTypes},
    AllocatorInfo{
        .name = "gavel-min-total-duration-packed",
        .sentence =
            "least makespan of the jobs at hand; by the rates of each type and of co-located pairs",
        .make = solved<make_gavel_makespan>,
        .sight = Sight::kPairs,
        .solves = Solves::kLinear,
        .goal = Goal::kLeastBySteps,
        .needs = kLengthsAndPairs,
        .packs = true},
    AllocatorInfo{.name = "gavel-max-sum-throughput-perf",
                  .sentence = "largest sum of throughputs",
                  .make = summed<false, false>,
                  .solves = Solves::kLinear,
                  .goal = Goal::kSum,
                  .needs = kTypes},
    AllocatorInfo{.name = "gavel-max-sum-throughput-normalized-by-cost-perf",
                  .sentence = "largest sum of throughputs per dollar",
                  .make = summed<true, false>,
                  .solves = Solves::kLinear,
                  .needs = kCosts},
    AllocatorInfo{.name = "gavel-max-sum-throughput-normalized-by-cost-perf-slos",
                  .sentence = "largest sum of throughputs per dollar, with deadlines as "
                              "constraints if all can be met",
                  .make = summed<true, true>,
                  .solves = Solves::kLinear,
                  .needs = kDeadlines},
    AllocatorInfo{.name = "gavel-max-sum-throughput-normalized-by-cost-packed-slos",
                  .sentence = "largest sum of throughputs per dollar with co-located pairs, and "
                              "deadlines as constraints if all can be met",
                  .make = summed<true, true>,
                  .sight = Sight::kPairs,
                  .solves = Solves::kLinear,
                  .needs = kDeadlinesAndPairs,
                  .packs = true},
};

template <std::size_t Row>
std::unique_ptr<SchedulingPolicy> make_row(const Params& params) {
  const AllocatorInfo& info = kAllocators[Row];
  auto allocator = in_parts(info, params, info.make(params, program_options(info, params)));
  return std::make_unique<RoundsPolicy>(std::move(allocator), round_options(info, params));
}

template <std::size_t... Row>
std::vector<PolicyInfo<SchedulingPolicy>> rows(std::index_sequence<Row...>) {
  return {{kAllocators[Row].name, kAllocators[Row].sentence, "Gavel, 2020",
           allocator_params(kAllocators[Row]), make_row<Row>, kAllocators[Row].system,
           kAllocators[Row].system.empty() ? "" : "the simulator of Gavel"}...};
}

}  // namespace

std::span<const AllocatorInfo> allocator_table() { return kAllocators; }

ParamList allocator_params(const AllocatorInfo& info) {
  ParamList params = {
      {"reset_interval", ParamKind::kReal, "1920",
       "shortest time in seconds between two allocations caused by jobs that left", 0},
      {"round", ParamKind::kReal, "360", "seconds of a round, where the pacing does not set them",
       1},
      {"global_queue", ParamKind::kFlag, "false",
       "use one order over all GPU types instead of filling type by type"},
  };
  if (lists(info.needs, Knowledge::kPrices)) {
    params.push_back({"prices", ParamKind::kReals, "",
                      "dollars per GPU-hour, in the order of the cluster's types, as in "
                      "0.74:0.43:0.135",
                      1e-9, 1e9});
  }
  if (info.packs) {
    params.push_back(
        {"learns", ParamKind::kFlag, "false",
         "replace the estimated rates of a pair by the observed ones once it has run"});
  }
  if (info.draws) {
    params.push_back(
        {"seed", ParamKind::kInteger, "0", "seed of Python's random numbers", 0, 9e15});
  }
  if (info.solves == Solves::kLinear) {
    params.push_back(
        {"solver",
         ParamKind::kText,
         "interior",
         "which of several optima: the analytic centre (interior) or a vertex (simplex)",
         -1,
         -1,
         {"interior", "simplex"}});
  }
  if (info.solves != Solves::kNothing) {
    params.push_back(
        {"parts", ParamKind::kInteger, "1",
         "jobs and GPUs are split into this many parts, each with a program of its own", 1, 1e6});
  }
  if (info.own_params != nullptr) info.own_params(params);
  return params;
}

ProgramOptions program_options(const AllocatorInfo& info, const Params& params) {
  ProgramOptions options{.sight = info.sight};
  if (info.solves == Solves::kLinear && params.text("solver") == "simplex") {
    options.solver = solve_at_vertex;
  }
  return options;
}

WaterOptions water_options(const Params& params) {
  WaterOptions water;
  for (const double weight : params.reals("entities")) water.entities.push_back({weight, false});
  for (const double number : params.reals("fifo_entities")) {
    const auto at = static_cast<std::size_t>(number) - 1;
    if (at < water.entities.size()) water.entities[at].fifo = true;
  }
  return water;
}

RoundOptions round_options(const AllocatorInfo& info, const Params& params) {
  RoundOptions options;
  options.round = params.real("round");
  options.reset_interval = params.real("reset_interval");
  options.global_queue = params.flag("global_queue");
  if (info.draws) options.seed = params.integer("seed");
  if (info.packs) options.learns = params.flag("learns");
  if (lists(info.needs, Knowledge::kPrices)) options.prices = params.reals("prices");
  options.needs = info.needs;
  options.optimises = info.solves != Solves::kNothing;
  return options;
}

std::unique_ptr<Allocator> in_parts(const AllocatorInfo& info, const Params& params,
                                    std::unique_ptr<Allocator> whole) {
  if (info.solves == Solves::kNothing || params.integer("parts") <= 1) return whole;
  return make_gavel_split(std::move(whole), static_cast<std::size_t>(params.integer("parts")));
}

std::vector<PolicyInfo<SchedulingPolicy>> gavel_rows() {
  return rows(std::make_index_sequence<kAllocators.size()>());
}

}  // namespace muster
