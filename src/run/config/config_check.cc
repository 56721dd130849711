#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/table_lookup.h"
#include "base/text.h"
#include "model/gpu_set.h"
#include "model/job_metrics.h"
#include "run/config/config.h"
#include "run/config/plugin_tables.h"
#include "run/config/plugins.h"

namespace muster {
namespace {

// Fills in the parameters of one choice; `usual` is what the preset wants of it.
Status complete(std::string_view kind_key, Choice& choice, const RunConfig& config, int gpus = 0) {
  // Such a policy checks its parameters when it is made.
  if (config.loader != nullptr && config.loader->knows(kind_key, choice.name)) return Done{};
  if (names_python(choice.name)) {
    return Error{fmt::format(
        "{} policy '{}' is written in Python: run the description with `python3 -m muster`, of the "
        "package that `make python` builds",
        kind_key, choice.name)};
  }
  const PluginKind& kind = plugin_kind(kind_key);
  const auto row = find_plugin(kind, choice.name);
  if (!row) return row.error();
  choice.name = (*row)->name;
  ParamTexts usual;
  if (const auto of_kind = config.usual.find(kind_key); of_kind != config.usual.end()) {
    if (const auto found = of_kind->second.find(choice.name); found != of_kind->second.end()) {
      usual = found->second;
    }
  }
  for (const ParamInfo& info : *(*row)->params) {
    // One seed drives a run unless a part was given its own; a load refers to the run's cluster.
    if (info.name == "seed") usual.emplace("seed", std::to_string(config.seed));
    if (info.name == "cluster_gpus") usual.emplace("cluster_gpus", std::to_string(gpus));
  }
  auto complete = complete_choice(kind.noun, *(*row)->params, choice, usual);
  if (!complete) return complete.error();
  choice = std::move(*complete);
  return Done{};
}

Status complete_progress(RunConfig& config) {
  const auto pacing = find_row("pacing", plugin_tables().pacing, config.pacing.name);
  if (!pacing) return pacing.error();
  if (config.progress.empty()) config.progress.name = (*pacing)->progress;
  if (Status done = complete("progress", config.progress, config); !done) return done;
  const auto progress = find_row("progress model", plugin_tables().progress, config.progress.name);
  const std::string_view needed = (*progress)->pacing;
  if (needed.empty() || needed == config.pacing.name) return Done{};
  return Error{fmt::format("progress model '{}' needs the pacing '{}' (--pacing {}); found '{}'",
                           config.progress.name, needed, needed, config.pacing.name)};
}

Status complete_choices(RunConfig& config) {
  const std::pair<std::string_view, Choice*> choices[] = {
      {"pacing", &config.pacing},         {"accounting", &config.accounting},
      {"execution", &config.execution},   {"admission", &config.admission},
      {"scheduling", &config.scheduling}, {"placement", &config.placement},
  };
  for (const auto& [kind, choice] : choices) {
    if (Status done = complete(kind, *choice, config); !done) return done;
  }
  if (Status done = complete_progress(config); !done) return done;
  for (std::vector<Choice>* models : {&config.perf, &config.beliefs}) {
    for (Choice& model : *models) {
      if (Status done = complete("perf", model, config); !done) return done;
    }
  }
  for (PolicySetConfig& policy_set : config.policy_sets) {
    const std::pair<Choice*, const Choice*> parts[] = {
        {&policy_set.admission, &config.admission},
        {&policy_set.scheduling, &config.scheduling},
        {&policy_set.placement, &config.placement},
    };
    for (const auto& [part, general] : parts) {
      if (part->empty()) *part = *general;
    }
    if (Status done = complete("admission", policy_set.admission, config); !done) return done;
    if (Status done = complete("scheduling", policy_set.scheduling, config); !done) return done;
    if (Status done = complete("placement", policy_set.placement, config); !done) return done;
  }
  if (!config.scaling.empty()) {
    if (Status done = complete("scaling", config.scaling, config); !done) return done;
  }
  if (config.policy_sets.empty() && !config.selector.empty()) {
    return Error{
        "a selector needs policy sets to choose from: add [[policy_set]] tables, or "
        "--policy-set on the command line"};
  }
  if (!config.policy_sets.empty() && config.selector.empty()) {
    return Error{"policy sets need a selector to choose among them: add --selector look-ahead"};
  }
  if (!config.selector.empty()) return complete("selector", config.selector, config);
  return Done{};
}

Status complete_workload(RunConfig& config, int gpus) {
  WorkloadConfig& workload = config.workload;
  if (workload.trace.empty() && workload.generator.empty()) {
    return Error{
        "no workload: name a trace, or a generator (--generate NAME; `muster policies` lists "
        "them)"};
  }
  if (!(workload.speed > 0) || std::isinf(workload.speed)) {
    return Error{
        fmt::format("workload.speed is {}, but must be a positive number", workload.speed)};
  }
  if (workload.limit < 0) return Error{"workload.limit must not be negative"};
  const bool rebase =
      workload.rebase == "auto" || workload.rebase == "yes" || workload.rebase == "no";
  if (!rebase) {
    return Error{
        fmt::format("workload.rebase is '{}', but must be auto, yes or no", workload.rebase)};
  }
  const bool beside = !workload.estimates.file.empty() || !workload.models.empty();
  if (beside && (workload.trace.empty() || workload.stream)) {
    return Error{
        "workload.estimates and workload.models name jobs by their ids in a trace: they need a "
        "trace that is not streamed"};
  }
  if (!workload.trace.empty()) return Done{};
  if (workload.stream) return Error{"workload.stream is for traces; generators always stream"};
  if (Status done = complete("generator", workload.generator, config, gpus); !done) return done;
  if (endless(workload) && !config.measure.last && config.engine.until == kNever) {
    return Error{fmt::format(
        "generator '{}' with jobs=0 never ends: set jobs, or a measured window (--measure)",
        workload.generator.name)};
  }
  return Done{};
}

Status check_stages(const RunConfig& config) {
  const ProfilingConfig& profiling = config.profiling;
  if (!(config.forecast.slot > 0) || std::isinf(config.forecast.slot)) {
    return Error{fmt::format("forecast.slot is {}, but must be a positive number of seconds",
                             config.forecast.slot)};
  }
  const bool staged = config.partitions_apart || (profiling.nodes > 0 && !profiling.within);
  if (staged && config.measure.last) {
    return Error{"a measured window cannot be combined with partitions.apart or profiling"};
  }
  if (staged && (!config.prices.empty() || !config.beliefs.empty())) {
    return Error{"prices and beliefs cannot be combined with partitions.apart or profiling"};
  }
  if (staged && !config.selector.empty()) {
    return Error{"a selector cannot be combined with partitions.apart or profiling"};
  }
  if (config.partitions_apart && !config.forecast.nodes.empty()) {
    return Error{
        "forecast.nodes is about the whole cluster: it cannot be combined with partitions.apart"};
  }
  if (profiling.nodes == 0) return Done{};
  if (profiling.nodes < 0 || profiling.nodes > 1'000'000 || profiling.gpus_per_node < 1 ||
      profiling.gpus_per_node > kMaxGpusPerNode || profiling.largest < 1 ||
      !(profiling.limit > 0) || std::isinf(profiling.limit)) {
    return Error{fmt::format(
        "profiling: {} nodes of {} GPUs for jobs of up to {} GPUs and {} s each; nodes must be 0 "
        "or more, the others positive, and a node has at most {} GPUs",
        profiling.nodes, profiling.gpus_per_node, profiling.largest, profiling.limit,
        kMaxGpusPerNode)};
  }
  if (profiling.within && (config.partitions_apart || profiling.online)) {
    return Error{
        "profiling.within has GPUs of the one cluster that there is: it cannot be combined with "
        "partitions.apart, nor with profiling.online, which has nodes of its own"};
  }
  if (profiling.within) return Done{};
  if (!profiling.lender.empty() && !config.partitions_apart) {
    return Error{"profiling.lender names a virtual cluster: it needs partitions.apart = true"};
  }
  if (profiling.online && (config.partitions_apart || profiling.free)) {
    return Error{
        "profiling.online profiles jobs as they come: it cannot be combined with partitions.apart, "
        "nor with profiling.free, which lets jobs start before anybody could have profiled them"};
  }
  if (!profiling.lender.empty() && !config.scaling.empty()) {
    return Error{
        "profiling.lender and a scaling policy both decide which nodes are powered: choose one"};
  }
  return Done{};
}

Status complete_durations(RunConfig& config) {
  if (!config.errors.empty()) {
    if (Status done = complete("errors", config.errors, config); !done) return done;
    if (config.durations != Durations::kEstimate) {
      return Error{
          fmt::format("errors '{}' are of estimates, but durations is '{}': add --durations "
                      "estimate, or leave the errors out",
                      config.errors.name, durations_name(config.durations))};
    }
  }
  const auto execution = find_row("execution", plugin_tables().execution, config.execution.name);
  if (!execution) return execution.error();
  if (config.durations == Durations::kTrue || !(*execution)->tells_truth) return Done{};
  return Error{
      fmt::format("execution '{}' lets policies know how long jobs run, but durations is "
                  "'{}': leave that out",
                  config.execution.name, durations_name(config.durations))};
}

Status check_restart(const RestartConfig& restart) {
  if (restart.unknown != "usual" && restart.unknown != "refuse") {
    return Error{
        fmt::format("restart.unknown is '{}', but must be 'usual' or 'refuse'", restart.unknown)};
  }
  const std::pair<std::string_view, double> spans[] = {
      {"restart.first_start", restart.first_start},
      {"restart.restart", restart.restart},
      {"restart.checkpoint_interval", restart.checkpoint_interval},
  };
  for (const auto& [name, value] : spans) {
    if (!(value >= 0) || std::isinf(value)) {
      return Error{
          fmt::format("{} is {}, but must be a number of seconds, 0 or more", name, value)};
    }
  }
  long long before = 0;
  for (const auto& [gpus, seconds] : restart.by_size) {
    if (gpus <= before || !(seconds >= 0) || std::isinf(seconds)) {
      return Error{
          fmt::format("restart.by_size: {} s up to {} GPUs; the GPUs of its rows must rise and the "
                      "seconds be 0 or more",
                      seconds, gpus)};
    }
    before = gpus;
  }
  for (const RestartRow& row : restart.table) {
    if (!(row.seconds >= 0) || std::isinf(row.seconds) || row.gpus < 0) {
      return Error{
          fmt::format("restart.table: the row of model '{}' has a negative number", row.model)};
    }
  }
  return Done{};
}

Status check_metrics(const std::vector<std::string>& names) {
  if (names.size() > JobMetrics::kMost) {
    return Error{fmt::format("metrics has {} names, but policies see {} at most", names.size(),
                             JobMetrics::kMost)};
  }
  for (auto name = names.begin(); name != names.end(); ++name) {
    if (std::find(names.begin(), name, *name) != name) {
      return Error{fmt::format("metrics names '{}' twice", *name)};
    }
  }
  return Done{};
}

Status check_numbers(const RunConfig& config) {
  if (Status few = check_metrics(config.metrics); !few) return few;
  for (const auto& [type, dollars] : config.prices.table) {
    if (!(dollars >= 0) || std::isinf(dollars)) {
      return Error{fmt::format(
          "prices.table: {} costs {}, but must cost a number of dollars per hour, 0 or more", type,
          dollars)};
    }
  }
  const std::pair<std::string_view, double> periods[] = {
      {"failures.node_mtbf", config.failures.node_mtbf},
      {"failures.node_repair", config.failures.node_repair},
      {"failures.gpu_mtbf", config.failures.gpu_mtbf},
      {"failures.gpu_repair", config.failures.gpu_repair},
      {"engine.until", config.engine.until},
  };
  for (const auto& [name, value] : periods) {
    if (!(value > 0)) {
      return Error{fmt::format("{} is {}, but must be a positive number of seconds", name, value)};
    }
  }
  return Done{};
}

Status complete_window(RunConfig& config) {
  MeasureConfig& measure = config.measure;
  if (!measure.first && !measure.last) return Done{};
  measure.first = measure.first.value_or(0);
  if (!measure.last) return Error{"measure.first is given without measure.last"};
  if (*measure.last < *measure.first || *measure.last >= 0xffffffffLL) {
    return Error{
        fmt::format("the measured window {}-{} must go from a lower job number to a higher",
                    *measure.first, *measure.last)};
  }
  return Done{};
}

Status complete_life(RunConfig& config) {
  LifeOptions& life = config.life;
  const std::pair<std::string_view, double> seconds[] = {
      {"life.start_latency", life.start_latency},
      {"life.stop_latency", life.stop_latency},
      {"life.start_limit", life.start_limit},
      {"life.report_delay", life.report_delay},
      {"life.census", life.census},
  };
  for (const auto& [name, value] : seconds) {
    const bool positive = name == "life.start_limit" || name == "life.census";
    if (value >= 0 && value < kNever && (value > 0 || !positive)) continue;
    return Error{fmt::format("{} is {}, but must be a number of seconds{}", name, value,
                             positive ? " above 0" : ", 0 or more")};
  }
  const std::pair<std::string_view, double> parts[] = {
      {"life.spread", life.spread},
      {"life.start_failure", life.start_failure},
      {"life.partial_gang", life.partial_gang},
      {"life.report_loss", life.report_loss},
  };
  for (const auto& [name, value] : parts) {
    if (value >= 0 && value < 1) continue;
    return Error{fmt::format("{} is {}, but must be 0 or more and less than 1", name, value)};
  }
  config.life_seed = config.life_seed.value_or(config.seed);
  if (*config.life_seed < 0) return Error{"life.seed must not be negative"};
  life.seed = static_cast<std::uint64_t>(*config.life_seed);
  const auto progress = find_row("progress model", plugin_tables().progress, config.progress.name);
  if (!progress) return progress.error();
  if (life.any() && !(*progress)->with_life) {
    return Error{fmt::format(
        "[life] needs the progress model 'continuous', but this run has '{}': it repeats a "
        "simulator in which commands take no time",
        config.progress.name)};
  }
  const auto execution = find_row("execution", plugin_tables().execution, config.execution.name);
  if (!execution) return execution.error();
  if (life.any() && !(*execution)->with_life) {
    return Error{fmt::format(
        "[life] cannot be combined with the execution '{}' (--ideal), in which jobs neither start "
        "nor stop: leave one of them out",
        config.execution.name)};
  }
  return Done{};
}

}  // namespace

Result<RunConfig> complete_config(RunConfig config) {
  if (config.seed < 0) return Error{"the seed must not be negative"};
  if (config.cluster.empty()) {
    return Error{
        "no cluster: add --cluster 16x8 for 16 nodes of 8 GPUs, or --cluster FILE.toml for one "
        "described in a file"};
  }
  Symbols symbols;
  const auto cluster = make_cluster(config.cluster, symbols);
  if (!cluster) return cluster.error();
  if (Status done = complete_workload(config, cluster->total_gpus()); !done) return done.error();
  if (Status done = complete_choices(config); !done) return done.error();
  if (Status done = complete_durations(config); !done) return done.error();
  if (Status done = check_restart(config.restart); !done) return done.error();
  if (Status done = check_numbers(config); !done) return done.error();
  if (Status done = check_stages(config); !done) return done.error();
  if (Status done = complete_window(config); !done) return done.error();
  config.engine.preemptions =
      (*find_row("accounting", plugin_tables().accounting, config.accounting.name))->rule;
  config.failure_seed = config.failure_seed.value_or(config.seed);
  if (*config.failure_seed < 0) return Error{"failures.seed must not be negative"};
  config.failures.seed = static_cast<std::uint64_t>(*config.failure_seed);
  if (Status done = complete_life(config); !done) return done.error();
  config.usual.clear();
  return config;
}

}  // namespace muster
