// Gavel's policies as rows of the table of scheduling policies: each an allocator in rounds.
#include <array>
#include <utility>

#include "base/text.h"
#include "policy/builtin.h"
#include "policy/gavel/program_allocators.h"
#include "policy/gavel/rounds.h"
#include "policy/gavel/simple_allocators.h"

namespace muster {
namespace {

constexpr std::array kAllocators = {
    AllocatorInfo{"gavel-isolated", "every job owns an equal part of every GPU type",
                  [](const Params&, bool) { return make_gavel_isolated(); }},
    AllocatorInfo{"gavel-proportional",
                  "every job should run all the time, on each type for the part it is of the "
                  "cluster",
                  [](const Params&, bool) { return make_gavel_proportional(); }},
    AllocatorInfo{"gavel-fifo", "first come, first served, on a GPU type drawn at random",
                  [](const Params& p, bool published) {
                    return make_gavel_fifo(FifoMode::kAnyType, p.integer("seed"), published, 0);
                  }},
    AllocatorInfo{"gavel-fifo-perf",
                  "first come, first served, on the free GPU type where the job is fastest",
                  [](const Params& p, bool published) {
                    return make_gavel_fifo(FifoMode::kBestType, p.integer("seed"), published, 0);
                  }},
    AllocatorInfo{"gavel-fifo-packed",
                  "as gavel-fifo-perf; who finds no room shares GPUs where that pays",
                  [](const Params& p, bool published) {
                    return make_gavel_fifo(FifoMode::kPacked, p.integer("seed"), published,
                                           p.real("threshold"));
                  }},
    AllocatorInfo{"gavel-gandiva",
                  "equal parts for random pairs of jobs, kept while they do not slow down too much",
                  [](const Params& p, bool) { return make_gavel_gandiva(p.integer("seed")); }},
    AllocatorInfo{"gavel-allox",
                  "the least sum of completion times, by assignment to the queues of free GPUs",
                  [](const Params& p, bool) { return make_gavel_allox(p.real("alpha")); }},
    AllocatorInfo{"gavel-max-min-fairness",
                  "the least share is as large as possible; every GPU type counts as equally fast",
                  [](const Params&, bool) { return make_gavel_max_min(Sight::kAgnostic); }},
    AllocatorInfo{"gavel-max-min-fairness-perf",
                  "the least share is as large as possible; by the rates of each type",
                  [](const Params&, bool) { return make_gavel_max_min(Sight::kRates); }},
    AllocatorInfo{"gavel-max-min-fairness-packed",
                  "the least share is as large as possible; by the rates of each type, and of "
                  "pairs on the same GPUs",
                  [](const Params&, bool) { return make_gavel_max_min(Sight::kPairs); }},
    AllocatorInfo{"gavel-max-min-fairness-water-filling",
                  "as max-min fairness, and then the next least share, and so on; every GPU type "
                  "counts as equally fast",
                  [](const Params&, bool) { return make_gavel_water_filling(Sight::kAgnostic); }},
    AllocatorInfo{
        "gavel-max-min-fairness-water-filling-perf",
        "as max-min fairness, and then the next least share, and so on; by the rates of each type",
        [](const Params&, bool) { return make_gavel_water_filling(Sight::kRates); }},
    AllocatorInfo{"gavel-max-min-fairness-water-filling-packed",
                  "as max-min fairness, and then the next least share, and so on; by the rates of "
                  "each type, and of pairs on the same GPUs",
                  [](const Params&, bool) { return make_gavel_water_filling(Sight::kPairs); }},
    AllocatorInfo{"gavel-finish-time-fairness",
                  "nobody is later than others, compared with a part of the cluster of its own; "
                  "every GPU type counts as equally fast",
                  [](const Params&, bool) { return make_gavel_finish_time(Sight::kAgnostic); }},
    AllocatorInfo{"gavel-finish-time-fairness-perf",
                  "nobody is later than others, compared with a part of the cluster of its own; by "
                  "the rates of each type",
                  [](const Params&, bool) { return make_gavel_finish_time(Sight::kRates); }},
    AllocatorInfo{"gavel-finish-time-fairness-packed",
                  "nobody is later than others, compared with a part of the cluster of its own; by "
                  "the rates of each type, and of pairs on the same GPUs",
                  [](const Params&, bool) { return make_gavel_finish_time(Sight::kPairs); }},
    AllocatorInfo{
        "gavel-min-total-duration",
        "all jobs are done together as soon as possible; every GPU type counts as equally fast",
        [](const Params&, bool) { return make_gavel_makespan(Sight::kAgnostic); }},
    AllocatorInfo{"gavel-min-total-duration-perf",
                  "all jobs are done together as soon as possible; by the rates of each type",
                  [](const Params&, bool) { return make_gavel_makespan(Sight::kRates); }},
    AllocatorInfo{"gavel-min-total-duration-packed",
                  "all jobs are done together as soon as possible; by the rates of each type, and "
                  "of pairs on the same GPUs",
                  [](const Params&, bool) { return make_gavel_makespan(Sight::kPairs); }},
    AllocatorInfo{"gavel-max-sum-throughput-perf", "the largest sum of throughputs",
                  [](const Params&, bool) { return make_gavel_sum(Sight::kRates, {}); }},
    AllocatorInfo{
        "gavel-max-sum-throughput-normalized-by-cost-perf",
        "the largest sum of throughputs per dollar",
        [](const Params&, bool) { return make_gavel_sum(Sight::kRates, {.by_cost = true}); }},
    AllocatorInfo{"gavel-max-sum-throughput-normalized-by-cost-perf-slos",
                  "the same, and who has a deadline meets it if all can",
                  [](const Params&, bool) {
                    return make_gavel_sum(Sight::kRates, {.by_cost = true, .deadlines = true});
                  }},
    AllocatorInfo{"gavel-max-sum-throughput-normalized-by-cost-packed-slos",
                  "the same with pairs on the same GPUs",
                  [](const Params&, bool) {
                    return make_gavel_sum(Sight::kPairs, {.by_cost = true, .deadlines = true});
                  }},
};

ParamList params_of(std::string_view name) {
  ParamList params = {
      {"reset_interval", ParamKind::kReal, "1920",
       "least seconds between two divisions of time because jobs left", 0},
      {"round", ParamKind::kReal, "360", "seconds of a round, where the pacing has no length", 1},
      {"global_queue", ParamKind::kFlag, "false",
       "one order over all GPU types instead of type by type"},
      {"prices", ParamKind::kText, "",
       "dollars per GPU and hour, in the order of the cluster's types, as in 0.74:0.43:0.135"},
      {"seed", ParamKind::kInteger, "0", "of Python's random numbers", 0, 9e15},
      {"as_published", ParamKind::kFlag, "false",
       "with the defects of the published code; see docs/gavel.md"},
  };
  if (name == "gavel-fifo-packed") {
    params.push_back({"threshold", ParamKind::kReal, "1.5",
                      "two jobs may share GPUs if their speeds, as parts of what they are alone, "
                      "add up to more",
                      0});
  }
  if (name == "gavel-allox") {
    params.push_back({"alpha", ParamKind::kReal, "1",
                      "the part of the waiting jobs, longest waiting first, that is planned", 0,
                      1});
  }
  return params;
}

RoundOptions options_of(const Params& params) {
  RoundOptions options;
  options.round = params.real("round");
  options.reset_interval = params.real("reset_interval");
  options.seed = params.integer("seed");
  options.global_queue = params.flag("global_queue");
  options.published = params.flag("as_published");
  for (const std::string_view price : split(params.text("prices"), ':')) {
    if (const auto value = parse_real(trim(price)); value && *value > 0) {
      options.prices.push_back(*value);
    }
  }
  return options;
}

template <std::size_t Row>
std::unique_ptr<SchedulingPolicy> make_row(const Params& params) {
  RoundOptions options = options_of(params);
  return std::make_unique<RoundsPolicy>(kAllocators[Row].make(params, options.published),
                                        std::move(options));
}

template <std::size_t... Row>
std::vector<PolicyInfo<SchedulingPolicy>> rows(std::index_sequence<Row...>) {
  return {{kAllocators[Row].name, kAllocators[Row].sentence, "Gavel, 2020",
           params_of(kAllocators[Row].name), make_row<Row>}...};
}

}  // namespace

std::span<const AllocatorInfo> allocator_table() { return kAllocators; }

std::vector<PolicyInfo<SchedulingPolicy>> gavel_rows() {
  return rows(std::make_index_sequence<kAllocators.size()>());
}

}  // namespace muster
