// Gavel's policies as rows of the table of scheduling policies: each an allocator in rounds.
#include "policy/gavel/rows.h"

#include <array>
#include <map>
#include <utility>

#include "policy/gavel/simple_allocators.h"
#include "policy/gavel/split.h"
#include "policy/table.h"

namespace muster {
namespace {

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

constexpr std::array kAllocators = {
    AllocatorInfo{"gavel-isolated", "an equal fraction of every GPU type for every job",
                  Sight::kRates,
                  [](const Params&, const ProgramOptions&) { return make_gavel_isolated(); }},
    AllocatorInfo{
        "gavel-proportional",
        "every job runs all the time, on each type in proportion to its part of the cluster",
        Sight::kRates,
        [](const Params&, const ProgramOptions&) { return make_gavel_proportional(); }},
    AllocatorInfo{"gavel-fifo", "first come, first served, on a GPU type drawn at random",
                  Sight::kRates,
                  [](const Params& p, const ProgramOptions&) {
                    return make_gavel_fifo(FifoMode::kAnyType, p.integer("seed"), 0);
                  }},
    AllocatorInfo{"gavel-fifo-perf",
                  "first come, first served, on the free GPU type where the job is fastest",
                  Sight::kRates,
                  [](const Params& p, const ProgramOptions&) {
                    return make_gavel_fifo(FifoMode::kBestType, p.integer("seed"), 0);
                  }},
    AllocatorInfo{
        "gavel-fifo-packed",
        "as gavel-fifo-perf; a job that finds no free GPUs shares those of another where that pays",
        Sight::kRates,
        [](const Params& p, const ProgramOptions&) {
          return make_gavel_fifo(FifoMode::kPacked, p.integer("seed"), p.real("threshold"));
        }},
    AllocatorInfo{
        "gavel-gandiva",
        "equal fractions for random pairs of jobs, kept while they do not slow each other too much",
        Sight::kRates,
        [](const Params& p, const ProgramOptions&) {
          return make_gavel_gandiva(p.integer("seed"));
        }},
    AllocatorInfo{
        "gavel-allox",
        "least sum of completion times, by assigning jobs to the queues of free GPUs",
        Sight::kRates,
        [](const Params& p, const ProgramOptions&) { return make_gavel_allox(p.real("alpha")); }},
    AllocatorInfo{"gavel-max-min-fairness",
                  "max-min fairness: the smallest normalised throughput is as large as possible; "
                  "all GPU types count as equally fast",
                  Sight::kAgnostic, solved<make_gavel_max_min>},
    AllocatorInfo{"gavel-max-min-fairness-perf",
                  "max-min fairness: the smallest normalised throughput is as large as possible; "
                  "by the rates of each type",
                  Sight::kRates, solved<make_gavel_max_min>},
    AllocatorInfo{"gavel-max-min-fairness-packed",
                  "max-min fairness: the smallest normalised throughput is as large as possible; "
                  "by the rates of each type and of co-located pairs",
                  Sight::kPairs, solved<make_gavel_max_min>},
    AllocatorInfo{
        "gavel-max-min-fairness-water-filling",
        "lexicographic max-min fairness by water filling; all GPU types count as equally fast",
        Sight::kAgnostic, filled},
    AllocatorInfo{"gavel-max-min-fairness-water-filling-perf",
                  "lexicographic max-min fairness by water filling; by the rates of each type",
                  Sight::kRates, filled},
    AllocatorInfo{"gavel-max-min-fairness-water-filling-packed",
                  "lexicographic max-min fairness by water filling; by the rates of each type and "
                  "of co-located pairs",
                  Sight::kPairs, filled},
    AllocatorInfo{"gavel-finish-time-fairness",
                  "finish-time fairness: the largest rho is as small as possible; all GPU types "
                  "count as equally fast",
                  Sight::kAgnostic, solved<make_gavel_finish_time>},
    AllocatorInfo{
        "gavel-finish-time-fairness-perf",
        "finish-time fairness: the largest rho is as small as possible; by the rates of each type",
        Sight::kRates, solved<make_gavel_finish_time>},
    AllocatorInfo{"gavel-finish-time-fairness-packed",
                  "finish-time fairness: the largest rho is as small as possible; by the rates of "
                  "each type and of co-located pairs",
                  Sight::kPairs, solved<make_gavel_finish_time>},
    AllocatorInfo{"gavel-max-min-fairness-strategy-proof",
                  "largest product of normalised throughputs; each job gives up a fraction so that "
                  "lying does not pay; all GPU types count as equally fast",
                  Sight::kAgnostic, solved<make_gavel_strategy_proof>},
    AllocatorInfo{"gavel-max-min-fairness-strategy-proof-perf",
                  "largest product of normalised throughputs; each job gives up a fraction so that "
                  "lying does not pay; by the rates of each type",
                  Sight::kRates, solved<make_gavel_strategy_proof>},
    AllocatorInfo{"gavel-min-total-duration",
                  "least makespan of the jobs at hand; all GPU types count as equally fast",
                  Sight::kAgnostic, solved<make_gavel_makespan>},
    AllocatorInfo{"gavel-min-total-duration-perf",
                  "least makespan of the jobs at hand; by the rates of each type", Sight::kRates,
                  solved<make_gavel_makespan>},
    AllocatorInfo{
        "gavel-min-total-duration-packed",
        "least makespan of the jobs at hand; by the rates of each type and of co-located pairs",
        Sight::kPairs, solved<make_gavel_makespan>},
    AllocatorInfo{"gavel-max-sum-throughput-perf", "largest sum of throughputs", Sight::kRates,
                  summed<false, false>},
    AllocatorInfo{"gavel-max-sum-throughput-normalized-by-cost-perf",
                  "largest sum of throughputs per dollar", Sight::kRates, summed<true, false>},
    AllocatorInfo{
        "gavel-max-sum-throughput-normalized-by-cost-perf-slos",
        "largest sum of throughputs per dollar, with deadlines as constraints if all can be met",
        Sight::kRates, summed<true, true>},
    AllocatorInfo{"gavel-max-sum-throughput-normalized-by-cost-packed-slos",
                  "largest sum of throughputs per dollar with co-located pairs, and deadlines as "
                  "constraints if all can be met",
                  Sight::kPairs, summed<true, true>},
};

bool has_entities(std::string_view name) { return name.find("water-filling") != name.npos; }
// Products of shares need logarithms, which the simplex method does not know.
bool chooses_solver(std::string_view name) {
  return is_program(name) && name.find("strategy-proof") == name.npos;
}

constexpr Need kTypesNeed{Knowledge::kGpuTypes, "all GPU types are taken to be equally fast"};
constexpr Need kPairsNeed{Knowledge::kPairs, "jobs that share GPUs are taken not to slow down"};
constexpr Need kPricesNeed{Knowledge::kPrices, "all GPU types are taken to cost the same"};
constexpr Need kDeadlineNeed{Knowledge::kDeadline, "nobody is held to a deadline"};

// What the allocator of that name asks its problem for.
Needs needs_of(std::string_view name) {
  static std::map<std::string_view, std::vector<Need>> known = [] {
    std::map<std::string_view, std::vector<Need>> all;
    for (const AllocatorInfo& row : kAllocators) {
      const auto has = [&row](std::string_view word) {
        return row.name.find(word) != row.name.npos;
      };
      std::vector<Need>& list = all[row.name];
      if (has("finish-time") || has("total-duration") || has("allox") || has("slos")) {
        list.push_back({Knowledge::kDuration});
      }
      if (has("-perf") || packs(row.name) || has("allox")) list.push_back(kTypesNeed);
      if (packs(row.name)) list.push_back(kPairsNeed);
      if (has("by-cost")) list.push_back(kPricesNeed);
      if (has("slos")) list.push_back(kDeadlineNeed);
    }
    return all;
  }();
  return known.at(name);
}

template <std::size_t Row>
std::unique_ptr<SchedulingPolicy> make_row(const Params& params) {
  const AllocatorInfo& info = kAllocators[Row];
  auto allocator = in_parts(info, params, info.make(params, program_options(info, params)));
  return std::make_unique<RoundsPolicy>(std::move(allocator), round_options(info, params));
}

// Gavel has forms of its own of other systems.
std::string_view system_of(std::string_view name) {
  if (name == "gavel-gandiva") return "Gandiva";
  if (name == "gavel-allox") return "AlloX";
  return name.find("finish-time") != name.npos ? "Themis" : std::string_view();
}

template <std::size_t... Row>
std::vector<PolicyInfo<SchedulingPolicy>> rows(std::index_sequence<Row...>) {
  return {{kAllocators[Row].name, kAllocators[Row].sentence, "Gavel, 2020",
           allocator_params(kAllocators[Row].name), make_row<Row>, system_of(kAllocators[Row].name),
           system_of(kAllocators[Row].name).empty() ? "" : "the simulator of Gavel"}...};
}

}  // namespace

std::span<const AllocatorInfo> allocator_table() { return kAllocators; }

bool packs(std::string_view name) {
  return name == "gavel-gandiva" || name.find("packed") != name.npos;
}
bool is_program(std::string_view name) {
  return name.starts_with("gavel-max-") || name.starts_with("gavel-min-") ||
         name.starts_with("gavel-finish-");
}

// Long: it is one table.
ParamList allocator_params(std::string_view name) {
  ParamList params = {
      {"reset_interval", ParamKind::kReal, "1920",
       "shortest time in seconds between two allocations caused by jobs that left", 0},
      {"round", ParamKind::kReal, "360", "seconds of a round, where the pacing does not set them",
       1},
      {"global_queue", ParamKind::kFlag, "false",
       "use one order over all GPU types instead of filling type by type"},
      {"prices", ParamKind::kReals, "",
       "dollars per GPU-hour, in the order of the cluster's types, as in 0.74:0.43:0.135", 1e-9,
       1e9},
      {"learns", ParamKind::kFlag, "false",
       "replace the estimated rates of a pair by the observed ones once it has run"},
      {"seed", ParamKind::kInteger, "0", "seed of Python's random numbers", 0, 9e15},
  };
  if (name == "gavel-fifo-packed") {
    params.push_back({"threshold", ParamKind::kReal, "1.5",
                      "two jobs may share GPUs if the sum of their speeds, relative to running "
                      "alone, exceeds this",
                      0});
  }
  if (chooses_solver(name)) {
    params.push_back({"solver",
                      ParamKind::kText,
                      "interior",
                      "of several best answers: the middle (interior) or a corner (simplex)",
                      -1,
                      -1,
                      {"interior", "simplex"}});
  }
  if (is_program(name)) {
    params.push_back(
        {"parts", ParamKind::kInteger, "1",
         "jobs and GPUs are split into this many parts, each with a program of its own", 1, 1e6});
  }
  if (has_entities(name)) {
    params.push_back({"entities", ParamKind::kReals, "",
                      "weights of users as entities, in the order of their first jobs, as in "
                      "1:3:2; empty: no entities",
                      1e-9, 1e9});
    params.push_back({"fifo_entities", ParamKind::kReals, "",
                      "entities, counted from 1, that serve their jobs first come, first served; "
                      "the others are fair",
                      1, 1e9});
  }
  if (name == "gavel-allox") {
    params.push_back({"alpha", ParamKind::kReal, "1",
                      "fraction of the waiting jobs, longest waiting first, that is assigned", 0,
                      1});
  }
  return params;
}

ProgramOptions program_options(const AllocatorInfo& info, const Params& params) {
  ProgramOptions options{.sight = info.sight};
  if (chooses_solver(info.name) && params.text("solver") == "simplex") {
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
  options.seed = params.integer("seed");
  options.global_queue = params.flag("global_queue");
  options.learns = params.flag("learns");
  options.prices = params.reals("prices");
  options.needs = needs_of(info.name);
  options.optimises = is_program(info.name);
  return options;
}

std::unique_ptr<Allocator> in_parts(const AllocatorInfo& info, const Params& params,
                                    std::unique_ptr<Allocator> whole) {
  if (!is_program(info.name) || params.integer("parts") <= 1) return whole;
  return make_gavel_split(std::move(whole), static_cast<std::size_t>(params.integer("parts")));
}

std::vector<PolicyInfo<SchedulingPolicy>> gavel_rows() {
  return rows(std::make_index_sequence<kAllocators.size()>());
}

}  // namespace muster
