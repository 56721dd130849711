#include "run/assembly/live_plan.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/table_lookup.h"
#include "run/assembly/guards.h"
#include "run/assembly/live_needs.h"
#include "run/assembly/make_parts.h"
#include "run/assembly/needs_check.h"
#include "run/assembly/prices.h"
#include "run/assembly/profiled_queues.h"
#include "run/config/live_metrics.h"
#include "run/config/plugin_tables.h"

namespace muster {
namespace {

Status check_pacing(const RunConfig& config) {
  std::vector<std::string_view> others;
  for (const PacingInfo& row : plugin_tables().pacing) {
    if (!row.works_live) continue;
    if (row.name == config.pacing.name) return Done{};
    others.push_back(row.name);
  }
  return Error{fmt::format(
      "the pacing '{}' repeats a simulator and has no meaning in real time; choose {} or {}, as in "
      "--pacing rounds:length=60",
      config.pacing.name, fmt::join(others.begin(), others.end() - 1, ", "), others.back())};
}

Status check_live(const RunConfig& config) {
  if (Status fit = check_pacing(config); !fit) return fit;
  if (config.partitions_apart) {
    return Error{
        "partitions apart are a way to simulate: leave them out, as with --set "
        "partitions.apart=false"};
  }
  if (config.profiling.nodes > 0 && !config.profiling.within) {
    return Error{fmt::format(
        "{}: profile jobs on GPUs of the cluster (--set profiling.within=true), or leave it out "
        "(--set profiling.nodes=0)",
        config.profiling.online ? "a profiler beside the run has nodes of its own, and starts jobs "
                                  "afterwards from their beginning (profiling.online)"
                                : "a profiling stage before the run needs all jobs in advance")};
  }
  if (config.profiling.nodes > 0) {
    for (const std::string_view name : {kGpuUtil, kMemoryUtil, kMemoryMb}) {
      if (std::find(config.metrics.begin(), config.metrics.end(), name) != config.metrics.end()) {
        continue;
      }
      return Error{fmt::format("the profiler measures {}, {} and {}: name them all in 'metrics'",
                               kGpuUtil, kMemoryUtil, kMemoryMb)};
    }
  }
  const auto execution = find_row("execution", plugin_tables().execution, config.execution.name);
  if (!execution) return execution.error();
  if (!(*execution)->works_live) {
    return Error{fmt::format("the execution '{}' is a way to simulate: leave it out",
                             config.execution.name)};
  }
  if (!config.scaling.empty()) {
    return Error{"scaling powers nodes up and down, which nothing here can do: leave it out"};
  }
  return Done{};
}

// What its policies need to know, as notes.
Status add_needs(const RunConfig& config, LivePlan& plan) {
  auto policies = needy_policies(config);
  if (!policies) return policies.error();
  if (config.profiling.nodes > 0) {  // measures what jobs do to a GPU
    for (NeedyPolicy& policy : *policies) {
      std::erase_if(policy.needs, [](const Need& need) { return need.of == Knowledge::kProfile; });
    }
  }
  const Forecast* forecast = plan.parts.forecast.get();
  const KnownInputs known{plan.cluster,
                          plan.parts.perf,
                          forecast != nullptr,
                          forecast != nullptr && forecast->has_nodes(),
                          plan.parts.prices != nullptr,
                          Durations::kEstimate};
  auto needs = live_needs(*policies, known, *plan.symbols);
  if (!needs) return needs.error();
  std::move(needs->begin(), needs->end(), std::back_inserter(plan.notes));
  return Done{};
}

}  // namespace

Result<LivePlan> make_live_plan(const RunConfig& config) {
  if (Status fit = check_live(config); !fit) return fit.error();
  LivePlan plan;
  plan.symbols = std::make_unique<Symbols>();
  auto cluster = make_cluster(config.cluster, *plan.symbols);
  if (!cluster) return cluster.error();
  if (!cluster->schedule.empty()) {
    return Error{"the cluster has a schedule of nodes that come and go: leave it out"};
  }
  plan.cluster = std::make_shared<const ClusterSpec>(std::move(*cluster));
  auto pacing = make_pacing(config);
  if (!pacing) return pacing.error();
  plan.parts.pacing = std::move(*pacing);
  if ((*find_row("pacing", plugin_tables().pacing, config.pacing.name))->rounds) {
    plan.round = plan.parts.pacing->length();
  }
  if (plan.parts.pacing->needs_last_arrival()) {
    return Error{fmt::format("the pacing '{}' needs all jobs in advance", config.pacing.name)};
  }
  auto beliefs = make_perf(config.beliefs.empty() ? config.perf : config.beliefs, *plan.symbols);
  if (!beliefs) return beliefs.error();
  plan.parts.perf = *beliefs;
  auto prices = load_prices(config.prices, *plan.cluster, *plan.symbols);
  if (!prices) return prices.error();
  plan.parts.prices = std::move(*prices);
  if (Status added = add_policies(config, *plan.symbols, plan.parts); !added) return added.error();
  for (std::size_t i = 0; i < plan.parts.policy_sets.size(); ++i) {
    const Choice& choice =
        config.policy_sets.empty() ? config.scheduling : config.policy_sets[i].scheduling;
    const SchedulingPolicy& scheduling = *plan.parts.policy_sets[i].scheduling;
    Status fit = works_outside_its_simulator(scheduling.traits(), choice.name);
    if (!fit) return fit.error();
  }
  for (const std::string& name : config.metrics) {
    plan.parts.metrics.push_back(plan.symbols->intern(name));
  }
  plan.parts.metric_names = config.metrics;
  if (Status added =
          add_profiler_within(config, *plan.cluster, *plan.symbols, plan.parts.policy_sets);
      !added) {
    return added.error();
  }
  if (const ProfilingConfig& profiling = config.profiling; profiling.nodes > 0) {
    plan.notes.push_back(
        fmt::format("the profiler has the last {} GPUs of the last {} nodes: jobs of up to {} GPUs "
                    "run there first, for up to {} s",
                    profiling.gpus_per_node, profiling.nodes, profiling.largest, profiling.limit));
  }
  if (Status met = add_needs(config, plan); !met) return met.error();
  plan.parts.cluster = plan.cluster;
  plan.parts.options = config.engine;
  plan.label = config.label();
  plan.config = config;
  plan.description = to_toml(config);
  return plan;
}

}  // namespace muster
