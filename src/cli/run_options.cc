#include "cli/run_options.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/text.h"
#include "report/metric_list.h"

namespace muster {
namespace {

constexpr const char* kWorkload = "Workload";
constexpr const char* kCluster = "Cluster, restarts and failures";
constexpr const char* kPolicyOptions = "Policies, each NAME or NAME:KEY=VALUE,KEY=VALUE";
constexpr const char* kOther = "Description";
constexpr const char* kOutput = "Output";

void several_or_one(CLI::Option* option, bool several) {
  option->allow_extra_args(false);
  if (!several) option->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

void add_workload_options(CLI::App& command, RunOptions& o) {
  command.add_option("TRACE", o.trace, "trace to run; its format is detected; - reads from a pipe")
      ->group(kWorkload);
  command
      .add_option("-g,--generate", o.generator,
                  "draw the jobs instead: a generator, as in poisson:rate=60,jobs=5000")
      ->type_name("NAME")
      ->group(kWorkload);
  command.add_option("--format", o.format, "format of the trace, if detection fails")
      ->type_name("NAME")
      ->group(kWorkload);
  command.add_flag("--skip-bad", o.skip_bad, "skip records that cannot be read")->group(kWorkload);
  command
      .add_flag("--stream", o.stream,
                "read the trace while simulating, in little memory; it must be sorted")
      ->group(kWorkload);
  command
      .add_option("--estimates", o.estimates,
                  "CSV of job_id and estimate, as `muster learn predict --id job_id` writes")
      ->type_name("FILE")
      ->group(kWorkload);
  command
      .add_option("--durations", o.durations,
                  "what policies are told of run times: true, estimate or none (default true)")
      ->type_name("WHAT")
      ->group(kWorkload);
  command.add_option("--jobs-limit", o.limit, "use only the first N jobs")
      ->type_name("N")
      ->group(kWorkload);
}

void add_cluster_options(CLI::App& command, RunOptions& o, bool several) {
  several_or_one(
      command.add_option("-c,--cluster", o.clusters, "nodes x GPUs, as in 16x8, or a TOML file")
          ->type_name("SHAPE")
          ->group(kCluster),
      several);
  command
      .add_flag("--ignore-host", o.ignore_host,
                "ignore CPU cores and memory; by default a job waits for those that it asks for, "
                "where the nodes say what they have")
      ->group(kCluster);
  command.add_option("--restart-cost", o.restart, "seconds a job loses at each restart or move")
      ->type_name("SECONDS")
      ->group(kCluster);
  command
      .add_option("--checkpoint-every", o.checkpoint,
                  "seconds between checkpoints; a failure loses the work since the last one")
      ->type_name("SECONDS")
      ->group(kCluster);
  command.add_option("--node-mtbf", o.node_mtbf, "mean seconds between failures of one node")
      ->type_name("SECONDS")
      ->group(kCluster);
  command.add_option("--node-repair", o.node_repair, "mean seconds to repair a node")
      ->type_name("SECONDS")
      ->group(kCluster);
}

void add_plugin_option(CLI::App& command, RunOptions& o) {
  command
      .add_option("--plugin", o.plugins,
                  "policy library made by `muster build-policy`; may be repeated")
      ->type_name("FILE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group(kPolicyOptions);
}

void add_policy_options(CLI::App& command, RunOptions& o, bool several) {
  several_or_one(
      command
          .add_option("-s,--scheduling", o.schedulings,
                      "scheduling policy: which jobs run first, as in las:service=seconds, or "
                      "FILE.py:NAME")
          ->type_name("NAME")
          ->group(kPolicyOptions),
      several);
  several_or_one(
      command.add_option("-p,--placement", o.placements, "placement policy: on which GPUs")
          ->type_name("NAME")
          ->group(kPolicyOptions),
      several);
  several_or_one(
      command
          .add_option("-a,--admission", o.admissions, "admission policy: which jobs are accepted")
          ->type_name("NAME")
          ->group(kPolicyOptions),
      several);
  command.add_option("--pacing", o.pacing, "when turns come, as in rounds:length=300")
      ->type_name("NAME")
      ->group(kPolicyOptions);
  command
      .add_flag(
          "--ideal", o.ideal,
          "carry out fractions of time exactly, without rounds: short for --set execution=fluid")
      ->group(kPolicyOptions);
  command
      .add_option("--perf", o.perf, "performance model: how fast jobs run where; several multiply")
      ->allow_extra_args(false)
      ->type_name("NAME")
      ->group(kPolicyOptions);
  command
      .add_option("--beliefs", o.beliefs,
                  "performance model that policies believe in, if it differs from --perf")
      ->allow_extra_args(false)
      ->type_name("NAME")
      ->group(kPolicyOptions);
  command
      .add_option("--scaling", o.scaling,
                  "scaling policy: which nodes are powered, as in energy-saving")
      ->type_name("NAME")
      ->group(kPolicyOptions);
  command
      .add_option("--selector", o.selector,
                  "policy that switches between --policy-set while running")
      ->type_name("NAME")
      ->group(kPolicyOptions);
  command
      .add_option("--policy-set", o.policy_sets,
                  "SCHEDULING+PLACEMENT+ADMISSION for the selector; give two or more")
      ->allow_extra_args(false)
      ->type_name("NAMES")
      ->group(kPolicyOptions);
}

void add_other_options(CLI::App& command, RunOptions& o) {
  command
      .add_option("--preset", o.preset, "start from the settings of a published system, as in blox")
      ->type_name("NAME")
      ->group(kOther);
  command.add_option("--config", o.config, "TOML file that describes the run; options override it")
      ->type_name("FILE")
      ->group(kOther);
  command.add_option("--seed", o.seed, "seed of generators and failures (default 1)")
      ->type_name("N")
      ->group(kOther);
  command
      .add_option("--measure", o.window,
                  "measure only the jobs FIRST to LAST; the run ends when they have left")
      ->type_name("FIRST-LAST")
      ->group(kOther);
  command.add_option("--set", o.settings, "SECTION.KEY=VALUE sets any other key of the file")
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE")
      ->group(kOther);
}

}  // namespace

// The help shows the groups in this order.
void add_run_options(CLI::App& command, RunOptions& o, bool several) {
  add_workload_options(command, o);
  add_cluster_options(command, o, several);
  add_plugin_option(command, o);
  add_policy_options(command, o, several);
  add_other_options(command, o);
}

ConfigSetting setting_of(std::string_view key, std::string_view value, std::string_view where) {
  TomlNode node = toml_text(value);
  return {toml_at(key, std::move(node)), std::string(where)};
}

namespace {

// "las+consolidated+accept-all"; the last two may be left out.
Result<TomlNode> policy_set_of(std::string_view text) {
  constexpr std::string_view kKinds[] = {"scheduling", "placement", "admission"};
  TomlNode table;
  std::size_t at = 0;
  for (const std::string_view part : split(text, '+')) {
    if (at == 3 || trim(part).empty()) {
      return Error{
          fmt::format("--policy-set {}: expected SCHEDULING, SCHEDULING+PLACEMENT or "
                      "SCHEDULING+PLACEMENT+ADMISSION",
                      text)};
    }
    table.members.push_back({std::string(kKinds[at++]), toml_text(trim(part))});
  }
  return table;
}

Status add_policy_sets(const RunOptions& o, ConfigLayers& layers) {
  if (o.policy_sets.empty()) return Done{};
  TomlNode list;
  list.kind = TomlNode::Kind::kArray;
  for (const std::string& text : o.policy_sets) {
    auto policy_set = policy_set_of(text);
    if (!policy_set) return policy_set.error();
    list.items.push_back(std::move(*policy_set));
  }
  layers.settings.push_back({toml_at("policy_set", std::move(list)), "--policy-set"});
  return Done{};
}

Status add_window(const RunOptions& o, ConfigLayers& layers) {
  if (o.window.empty()) return Done{};
  const std::vector<std::string_view> ends = split(o.window, '-');
  if (ends.size() != 2 || !parse_integer(trim(ends[0])) || !parse_integer(trim(ends[1]))) {
    return Error{fmt::format("--measure {}: expected FIRST-LAST, as in 1000-2000", o.window)};
  }
  layers.settings.push_back(setting_of("measure.first", trim(ends[0]), "--measure"));
  layers.settings.push_back(setting_of("measure.last", trim(ends[1]), "--measure"));
  return Done{};
}

// Options that take one value.
void add_singles(const RunOptions& o, ConfigLayers& layers) {
  struct Single {
    std::string_view option;
    std::string_view key;
    const std::string& value;
  };
  const Single singles[] = {
      {"TRACE", "workload.trace", o.trace},
      {"--generate", "workload.generator", o.generator},
      {"--format", "workload.format", o.format},
      {"--jobs-limit", "workload.limit", o.limit},
      {"--durations", "durations", o.durations},
      {"--pacing", "pacing", o.pacing},
      {"--scaling", "scaling", o.scaling},
      {"--selector", "selector", o.selector},
      {"--estimates", "workload.estimates.file", o.estimates},
      {"--seed", "seed", o.seed},
      {"--restart-cost", "restart.restart", o.restart},
      {"--checkpoint-every", "restart.checkpoint_interval", o.checkpoint},
      {"--node-mtbf", "failures.node_mtbf", o.node_mtbf},
      {"--node-repair", "failures.node_repair", o.node_repair},
  };
  for (const Single& single : singles) {
    if (!single.value.empty()) {
      layers.settings.push_back(setting_of(single.key, single.value, single.option));
    }
  }
}

// Options that a comparison may be given several times: then each makes a run of its own.
void add_lists(const RunOptions& o, ConfigLayers& layers) {
  struct Many {
    std::string_view option;
    std::string_view key;
    const std::vector<std::string>& values;
  };
  const Many many[] = {
      {"--cluster", "cluster", o.clusters},
      {"--scheduling", "scheduling", o.schedulings},
      {"--placement", "placement", o.placements},
      {"--admission", "admission", o.admissions},
  };
  for (const Many& one : many) {
    if (one.values.size() == 1) {
      layers.settings.push_back(setting_of(one.key, one.values.front(), one.option));
    }
  }
  const Many models[] = {{"--perf", "perf", o.perf}, {"--beliefs", "beliefs", o.beliefs}};
  for (const Many& one : models) {
    if (one.values.empty()) continue;
    TomlNode list;
    list.kind = TomlNode::Kind::kArray;
    for (const std::string& model : one.values) list.items.push_back(toml_text(model));
    layers.settings.push_back({toml_at(one.key, std::move(list)), std::string(one.option)});
  }
}

}  // namespace

Result<ConfigLayers> layers_of(const RunOptions& o) {
  ConfigLayers layers;
  layers.preset = o.preset;
  layers.file = o.config;
  if (!o.trace.empty() && !o.generator.empty()) {
    return Error{"a trace and --generate were both given: choose one"};
  }
  add_singles(o, layers);
  add_lists(o, layers);
  if (o.ignore_host) {
    layers.settings.push_back(setting_of("engine.count_host", "false", "--ignore-host"));
  }
  if (o.ideal) layers.settings.push_back(setting_of("execution", "fluid", "--ideal"));
  if (o.skip_bad) layers.settings.push_back(setting_of("workload.skip_bad", "true", "--skip-bad"));
  if (o.stream) layers.settings.push_back(setting_of("workload.stream", "true", "--stream"));
  if (Status added = add_policy_sets(o, layers); !added) return added.error();
  if (Status added = add_window(o, layers); !added) return added.error();
  for (const std::string& text : o.settings) {
    auto document = toml_setting(text);
    if (!document) return document.error();
    layers.settings.push_back({std::move(*document), "--set " + text});
  }
  return layers;
}

void add_output_options(CLI::App& command, OutputOptions& o) {
  command.add_option("-o,--output", o.folder, "folder for the results")
      ->type_name("FOLDER")
      ->group(kOutput);
  command.add_flag("--no-save", o.no_save, "print the figures and write nothing")->group(kOutput);
  command
      .add_flag("--force", o.force,
                "rename a folder that is not a Muster result instead of refusing it")
      ->group(kOutput);
  command.add_flag("--turns", o.turns, "also write turns.csv, one line per turn")->group(kOutput);
  command
      .add_option("--metrics", o.metrics, "figures to show, separated by commas (--json lists all)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("LIST")
      ->group(kOutput);
  command.add_flag("--json", o.json, "print the figures as JSON")->group(kOutput);
  command.add_flag("-q,--quiet", o.quiet, "show no progress on standard error")->group(kOutput);
}

Status check_metrics(const std::vector<std::string>& keys) {
  for (const std::string& key : keys) {
    if (find_metric(key) != nullptr) continue;
    std::vector<std::string_view> known;
    for (const MetricInfo& info : metric_list()) known.push_back(info.key);
    return Error{"--metrics: " + unknown_name("figure", key, known)};
  }
  return Done{};
}

}  // namespace muster
