#include "cli/live/serve_plan.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "run/config/load_config.h"

namespace muster {

void add_plan_options(CLI::App& command, ServePlan& plan) {
  constexpr const char* kPolicies = "Policies, as in `muster simulate`";
  RunOptions& run = plan.run;
  const auto one = [&](const char* name, auto& value, const char* sentence, const char* type) {
    command.add_option(name, value, sentence)
        ->type_name(type)
        ->group(kPolicies)
        ->allow_extra_args(false);
  };
  one("--config", run.config, "TOML file that describes the run, as for `muster simulate`", "FILE");
  one("--preset", run.preset, "start from the settings of a published system, as in blox", "NAME");
  one("-s,--scheduling", run.schedulings, "scheduling policy: which jobs run first", "NAME");
  one("-p,--placement", run.placements, "placement policy: on which GPUs", "NAME");
  one("-a,--admission", run.admissions, "admission policy: which jobs are accepted", "NAME");
  one("--pacing", run.pacing, "when to decide: events, or rounds:length=60", "NAME");
  one("--perf", run.perf, "performance model that policies believe in", "NAME");
  command
      .add_option("--policy-time-limit", plan.policy_seconds,
                  "seconds for one answer of a policy written in Python (FILE.py:NAME)")
      ->type_name("SECONDS")
      ->group(kPolicies)
      ->check(CLI::Range(0.01, 3600.0))
      ->capture_default_str();
  one("--set", run.settings, "any other setting, as in engine.max_crashes=5", "KEY=VALUE");
}

Status find_cluster(ServePlan& plan) {
  if (plan.fake_gpus > 0) {
    plan.shape = fmt::format("1x{}", plan.fake_gpus);
    return Done{};
  }
  auto gpus = find_gpus();
  if (!gpus || gpus->empty()) {
    return Error{fmt::format(
        "no GPUs to schedule: {}; to try it without, pretend: muster serve --fake-gpus 8",
        gpus ? "NVIDIA's driver finds none" : gpus.error().message)};
  }
  plan.shape = fmt::format("1x{}:{}", gpus->size(), gpu_type_of(gpus->front().name));
  plan.gpus = std::move(*gpus);
  return Done{};
}

namespace {

// What the description says of a cluster and of jobs, and nobody asks for here; empty: nothing.
std::string unused_parts(const RunConfig& config) {
  std::string parts;
  const auto add = [&parts](std::string_view what, const std::string& name) {
    if (!name.empty()) parts += fmt::format("{}{} {}", parts.empty() ? "" : " and ", what, name);
  };
  const ClusterConfig& cluster = config.cluster;
  add("the cluster", cluster.shape.empty() ? cluster.file : cluster.shape);
  add("the trace", config.workload.trace);
  if (parts.empty()) return {};
  return fmt::format(
      "ignored in the description: {}; a daemon uses the GPUs that it finds and the jobs that "
      "users submit",
      parts);
}

}  // namespace

Result<LivePlan> live_plan_of(const ServePlan& plan, bool safe) {
  auto layers = layers_of(plan.run);
  if (!layers) return layers.error();
  if (safe) {
    layers->preset.clear();
    layers->file.clear();
    layers->settings.clear();
  }
  auto config = load_config(*layers);
  if (!config) return config.error();
  if (const std::string& file = config->workload.estimates.file; !file.empty()) {
    return Error{
        fmt::format("workload.estimates.file = {}: it is by the job ids of a trace, which live "
                    "jobs do not have; "
                    "leave it out, and say what is known of a job with muster submit --estimate",
                    file)};
  }
  const std::string unused = unused_parts(*config);
  config->cluster = {};
  config->cluster.shape = plan.cluster.empty() ? plan.shape : "";
  config->cluster.text = plan.cluster;
  // Jobs come from people: the description needs a workload to be complete, and it is not used.
  config->workload = {};
  config->workload.generator = {"poisson", {{"jobs", "1"}}};
  config->output = {};
  const auto answers = std::make_shared<AnswerLog>();
  if (plan.hosts) config->loader = std::make_shared<ProcessLoader>(plan.hosts, answers);
  auto complete = complete_config(std::move(*config));
  if (!complete) return complete.error();
  auto made = make_live_plan(*complete);
  if (made && !answers->policies.empty()) made->answers = answers;
  if (made && !unused.empty()) made->notes.insert(made->notes.begin(), unused);
  return made;
}

}  // namespace muster
