#include "run/experiment/policy_runtime.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "base/random_python.h"
#include "policy/gavel/program_allocators.h"
#include "policy/gavel/rows.h"
#include "policy/gavel/split.h"
#include "report/metric_list.h"
#include "run/assembly/make_allocator.h"
#include "run/config/plugin_tables.h"
#include "workload/generate/generators.h"
#include "workload/perf/throughput_json.h"

namespace muster {
namespace {

constexpr std::string_view kTypes[] = {"k80", "p100", "v100"};
constexpr std::size_t kEntities = 5;
// Eight million pairs of 26 types of jobs, or 131 thousand of jobs that all differ.
constexpr long long kMostWithPairs = 4096;
constexpr long long kMostDifferentWithPairs = 512;

// What the allocator of that name raises.
Goal goal_of(std::string_view name) {
  const auto rows = allocator_table();
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [name](const AllocatorInfo& one) { return one.name == name; });
  return row == rows.end() ? Goal::kNone : row->goal;
}

// By the steps that they have left all jobs differ.
long long most_jobs(std::string_view name, const Allocator& allocator) {
  if (!allocator.traits().pairs) return std::numeric_limits<long long>::max();
  return goal_of(name) == Goal::kLeastBySteps ? kMostDifferentWithPairs : kMostWithPairs;
}

// Pairs of jobs whose numbers are equal modulo `apart`, as parts need them; 0: no pairs.
Result<AllocationProblem> problem_of(const PolicyRuntimeOptions& options, long long count,
                                     int trial, std::uint32_t apart, const ThroughputTable& table) {
  Symbols symbols;
  auto source = make_generator("gavel",
                               {{"throughputs", options.throughputs},
                                {"jobs", std::to_string(count)},
                                {"lam", "0"},
                                {"seed", std::to_string(trial)},
                                {"multi_gpu", options.multi_gpu ? "true" : "false"}},
                               symbols);
  if (!source) return source.error();
  AllocationProblem problem;
  problem.types = std::size(kTypes);
  problem.capacity.assign(problem.types, static_cast<int>(std::max(1LL, count / 4)));
  std::vector<int> keys;
  std::vector<int> types;
  for (const std::string_view type : kTypes) {
    types.push_back(table.type(type));
    if (types.back() == ThroughputTable::kUnknown) {
      return Error{
          fmt::format("{}: no throughputs for the GPU type '{}'", options.throughputs, type)};
    }
  }
  for (const JobSpec* spec = source->source->peek(); spec != nullptr;
       source->source->pop(), spec = source->source->peek()) {
    AllocationJob job;
    job.id = JobId{static_cast<std::uint32_t>(problem.jobs.size())};
    job.gpus = spec->gpus;
    job.steps_left = spec->iterations;
    job.owner = problem.jobs.size() % kEntities;
    keys.push_back(table.key(symbols.text(spec->model), spec->gpus));
    for (const int type : types) problem.rates.push_back(table.alone(type, keys.back()));
    problem.jobs.push_back(job);
  }
  if (auto error = source->source->error()) return *error;
  for (std::uint32_t b = 0; apart > 0 && b < problem.jobs.size(); ++b) {
    for (std::uint32_t a = b % apart; a < b; a += apart) {
      if (problem.jobs[a].gpus != problem.jobs[b].gpus) continue;
      problem.pairs.push_back({a, b});
      for (const int type : types) {
        const ThroughputTable::Pair rates = table.pair(type, keys[a], keys[b]);
        problem.pair_rates.emplace_back(rates.mine, rates.other);
      }
    }
  }
  return problem;
}

// Of all jobs, each throughput as a part of its fastest.
double sum_of_parts(const AllocationProblem& problem, const Allocation& allocation) {
  const std::vector<double> all = throughputs(problem, allocation);
  double sum = 0;
  for (std::size_t j = 0; j < all.size(); ++j) {
    double fastest = 0;
    for (std::size_t w = 0; w < problem.types; ++w) fastest = std::max(fastest, problem.rate(j, w));
    if (fastest > 0) sum += all[j] / fastest;
  }
  return sum;
}

// What the policy of that name raises, where that is a single figure.
std::optional<double> raised(std::string_view name, const AllocationProblem& problem,
                             const Allocation& allocation) {
  const Goal goal = goal_of(name);
  if (goal == Goal::kNone) return std::nullopt;
  const std::vector<double> all = throughputs(problem, allocation);
  if (goal == Goal::kSum) return std::accumulate(all.begin(), all.end(), 0.0);
  double least = HUGE_VAL;
  for (std::size_t j = 0; j < all.size(); ++j) {
    const AllocationJob& job = problem.jobs[j];
    const double unit = goal == Goal::kLeastBySteps ? job.steps_left
                        : goal == Goal::kLeastByIsolated
                            ? isolated_rate(problem, problem.rates, j)
                            : job.weight * proportional_rate(problem, problem.rates, j) / job.gpus;
    if (unit > 0) least = std::min(least, all[j] / unit);
  }
  return least;
}

// Processor time of this thread: an allocation works in one, and other work on the machine should
// not count.
double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double timed(Allocator& allocator, const AllocationProblem& problem, Allocation& allocation) {
  allocation.reset(problem);
  const double begin = thread_seconds();
  allocator.allocate(problem, allocation);
  return thread_seconds() - begin;
}

// Each part by an allocator of its own; the time of the slowest, as if all ran at once.
double timed_parts(const Allocator& allocator, const AllocationProblem& problem, int parts,
                   Allocation& allocation) {
  allocation.reset(problem);
  double slowest = 0;
  for (const ProblemPart& part : split_problem(problem, static_cast<std::size_t>(parts))) {
    Allocation one;
    slowest = std::max(slowest, timed(*allocator.clone(), part.problem, one));
    put_back(part, one, allocation);
  }
  return slowest;
}

// With the parameters' defaults. Water filling serves entities of weights 1 to 3, as in the figure.
Result<std::unique_ptr<Allocator>> timed_allocator(const std::string& name, int trial,
                                                   ParamTexts given = {}) {
  Choice choice{name, std::move(given)};
  const auto row = find_row("scheduling policy", plugin_tables().scheduling, name);
  if (!row) return row.error();
  for (const ParamInfo& param : (*row)->params) {
    if (param.name != "entities") continue;
    PythonRandom random(trial);
    for (std::size_t e = 0; e < kEntities; ++e) {
      choice.params["entities"] += fmt::format("{}{}", e == 0 ? "" : ":", 1 + random.choice(3));
    }
  }
  return make_allocator(choice);
}

Result<double> off_general(const std::string& name, int trial, const AllocationProblem& problem,
                           const Allocation& ours) {
  const auto reached = raised(name, problem, ours);
  if (!reached) return 0.0;
  const auto general = timed_allocator(name, trial, {{"solver", "simplex"}});
  if (!general) return general.error();
  Allocation theirs;
  timed(**general, problem, theirs);
  return 1 - *reached / *raised(name, problem, theirs);
}

}  // namespace

std::vector<std::string> policy_runtime_families() {
  return {"gavel-max-min-fairness-perf",
          "gavel-max-min-fairness-packed",
          "gavel-max-min-fairness-water-filling-perf",
          "gavel-max-min-fairness-water-filling-packed",
          "gavel-finish-time-fairness-perf",
          "gavel-finish-time-fairness-packed",
          "gavel-min-total-duration-perf",
          "gavel-min-total-duration-packed",
          "gavel-max-sum-throughput-perf",
          "gavel-max-min-fairness-strategy-proof-perf"};
}

Result<std::vector<PolicyRuntime>> measure_policy_runtimes(
    const PolicyRuntimeOptions& options, const std::function<bool(const PolicyRuntime&)>& done) {
  const auto table = load_throughput_table(options.throughputs);
  if (!table) return table.error();
  std::vector<PolicyRuntime> rows;
  for (const std::string& name : options.policies) {
    for (const long long jobs : options.jobs) {
      PolicyRuntime row;
      row.policy = name;
      row.jobs = jobs;
      double kept = 0;
      for (int trial = 0; trial < options.trials; ++trial) {
        const auto made = timed_allocator(name, trial);
        if (!made) return made.error();
        Allocator& allocator = **made;
        const long long most = most_jobs(name, allocator);
        const bool whole_too = jobs <= most;  // otherwise parts alone are measured
        row.too_many_pairs = (jobs + options.parts - 1) / options.parts > most;
        if (row.too_many_pairs) break;
        const auto apart = static_cast<std::uint32_t>(whole_too ? 1 : options.parts);
        const auto problem =
            problem_of(options, jobs, trial, allocator.traits().pairs ? apart : 0, *table);
        if (!problem) return problem.error();
        Allocation whole;
        if (whole_too) {
          const double seconds = timed(allocator, *problem, whole);
          if (options.parts == 1) row.seconds.push_back(seconds);
          if (options.check) {
            const auto off = off_general(name, trial, *problem, whole);
            if (!off) return off.error();
            row.off_general = std::max(row.off_general, *off);
          }
        }
        if (options.parts == 1) continue;
        const auto fresh = timed_allocator(name, trial);
        Allocation split;
        row.seconds.push_back(timed_parts(**fresh, *problem, options.parts, split));
        if (!whole_too) {
          kept = kNoFigure;
          continue;
        }
        kept += sum_of_parts(*problem, split) / sum_of_parts(*problem, whole);
        if (const auto reached = raised(name, *problem, whole)) {
          const double part = *raised(name, *problem, split) / *reached;
          row.goal_kept = std::min(part, row.goal_kept.value_or(part));
        }
      }
      if (!row.too_many_pairs) {
        if (options.parts > 1) row.share_kept = kept / options.trials;
        row.average = std::accumulate(row.seconds.begin(), row.seconds.end(), 0.0) /
                      static_cast<double>(row.seconds.size());
      }
      rows.push_back(row);
      if (done && !done(row)) return rows;
    }
  }
  return rows;
}

}  // namespace muster
