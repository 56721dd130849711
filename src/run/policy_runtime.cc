#include "run/policy_runtime.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "base/text.h"
#include "perf/throughput_table.h"
#include "policy/gavel/allocator.h"
#include "workload/generate/generators.h"

namespace muster {
namespace {

constexpr std::string_view kTypes[] = {"k80", "p100", "v100"};

Result<Params> default_params() {
  return Params::make("policy",
                      {{"seed", ParamKind::kInteger, "0", ""},
                       {"alpha", ParamKind::kReal, "1", ""},
                       {"threshold", ParamKind::kReal, "1.5", ""}},
                      {});
}

Result<AllocationProblem> problem_of(const PolicyRuntimeOptions& options, long long count,
                                     int trial, bool pairs, const ThroughputTable& table) {
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
    keys.push_back(table.key(symbols.text(spec->model), spec->gpus));
    for (const int type : types) problem.rates.push_back(table.alone(type, keys.back()));
    problem.jobs.push_back(job);
  }
  if (auto error = source->source->error()) return *error;
  for (std::uint32_t b = 0; pairs && b < problem.jobs.size(); ++b) {
    for (std::uint32_t a = 0; a < b; ++a) {
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

// Every `parts`-th job from `first`, with its part of the GPUs.
AllocationProblem part_of(const AllocationProblem& whole, int first, int parts) {
  AllocationProblem part;
  part.types = whole.types;
  for (const int gpus : whole.capacity) part.capacity.push_back(gpus / parts);
  std::map<std::uint32_t, std::uint32_t> place;
  for (std::size_t j = static_cast<std::size_t>(first); j < whole.jobs.size();
       j += static_cast<std::size_t>(parts)) {
    place[static_cast<std::uint32_t>(j)] = static_cast<std::uint32_t>(part.jobs.size());
    part.jobs.push_back(whole.jobs[j]);
    for (std::size_t w = 0; w < whole.types; ++w) part.rates.push_back(whole.rate(j, w));
  }
  for (std::size_t p = 0; p < whole.pairs.size(); ++p) {
    const auto a = place.find(whole.pairs[p].first);
    const auto b = place.find(whole.pairs[p].second);
    if (a == place.end() || b == place.end()) continue;
    part.pairs.push_back({a->second, b->second});
    for (std::size_t w = 0; w < whole.types; ++w) part.pair_rates.push_back(whole.pair_rate(p, w));
  }
  return part;
}

// The mean of the jobs' throughputs, each as a part of its fastest.
double mean_throughput(const AllocationProblem& problem, const Allocation& allocation) {
  std::vector<double> sums(problem.jobs.size(), 0.0);
  for (std::size_t w = 0; w < problem.types; ++w) {
    for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
      sums[j] += problem.rate(j, w) * allocation.alone[j * problem.types + w];
    }
    for (std::size_t p = 0; p < problem.pairs.size(); ++p) {
      const double part = allocation.paired[p * problem.types + w];
      sums[problem.pairs[p].first] += problem.pair_rate(p, w).first * part;
      sums[problem.pairs[p].second] += problem.pair_rate(p, w).second * part;
    }
  }
  double all = 0;
  for (std::size_t j = 0; j < sums.size(); ++j) {
    double fastest = 0;
    for (std::size_t w = 0; w < problem.types; ++w) fastest = std::max(fastest, problem.rate(j, w));
    if (fastest > 0) all += sums[j] / fastest;
  }
  return all;
}

double timed(Allocator& allocator, const AllocationProblem& problem, Allocation& allocation) {
  allocation.reset(problem);
  const auto begin = std::chrono::steady_clock::now();
  allocator.allocate(problem, allocation);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

std::vector<std::string> policy_runtime_families() {
  return {"gavel-max-min-fairness-perf",
          "gavel-max-min-fairness-packed",
          "gavel-max-min-fairness-water-filling-perf",
          "gavel-max-min-fairness-water-filling-packed",
          "gavel-finish-time-fairness-perf",
          "gavel-min-total-duration-perf",
          "gavel-max-sum-throughput-perf"};
}

Result<std::vector<PolicyRuntime>> measure_policy_runtimes(
    const PolicyRuntimeOptions& options, const std::function<bool(const PolicyRuntime&)>& done) {
  const auto table = ThroughputTable::load(options.throughputs);
  if (!table) return table.error();
  const auto params = default_params();
  if (!params) return params.error();
  std::vector<PolicyRuntime> rows;
  for (const std::string& name : options.policies) {
    std::vector<std::string_view> known;
    const AllocatorInfo* info = nullptr;
    for (const AllocatorInfo& one : allocator_table()) {
      known.push_back(one.name);
      if (one.name == name) info = &one;
    }
    if (info == nullptr) return Error{unknown_name("policy with fractions", name, known)};
    for (const long long jobs : options.jobs) {
      PolicyRuntime row;
      row.policy = name;
      row.jobs = jobs;
      double kept = 0;
      for (int trial = 0; trial < options.trials; ++trial) {
        const bool pairs = info->make(*params, false)->traits().pairs;
        const auto problem = problem_of(options, jobs, trial, pairs, *table);
        if (!problem) return problem.error();
        Allocation allocation;
        if (options.parts == 1) {
          row.seconds.push_back(timed(*info->make(*params, false), *problem, allocation));
          continue;
        }
        double slowest = 0;
        double sum = 0;
        for (int part = 0; part < options.parts; ++part) {
          const AllocationProblem one = part_of(*problem, part, options.parts);
          slowest = std::max(slowest, timed(*info->make(*params, false), one, allocation));
          sum += mean_throughput(one, allocation);
        }
        row.seconds.push_back(slowest);
        timed(*info->make(*params, false), *problem, allocation);
        kept += sum / mean_throughput(*problem, allocation) / options.trials;
      }
      if (options.parts > 1) row.share_kept = kept;
      row.average = std::accumulate(row.seconds.begin(), row.seconds.end(), 0.0) /
                    static_cast<double>(row.seconds.size());
      rows.push_back(row);
      if (done && !done(row)) return rows;
    }
  }
  return rows;
}

}  // namespace muster
