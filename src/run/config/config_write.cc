#include <fmt/format.h>

#include "run/config/config.h"

namespace muster {
namespace {

// Writes "key = value" lines under section headings.
class Writer {
 public:
  void section(std::string_view name) { out_ += fmt::format("\n[{}]\n", name); }
  void row(std::string_view name) { out_ += fmt::format("\n[[{}]]\n", name); }
  void text(std::string_view key, std::string_view value) { line(key, toml_quoted(value)); }
  void number(std::string_view key, double value) { line(key, toml_number(value)); }
  void whole(std::string_view key, long long value) { line(key, fmt::to_string(value)); }
  void flag(std::string_view key, bool value) { line(key, value ? "true" : "false"); }
  void texts(std::string_view key, const std::vector<std::string>& values) {
    std::string list;
    for (const std::string& value : values) list += (list.empty() ? "" : ", ") + toml_quoted(value);
    line(key, fmt::format("[{}]", list));
  }
  void params(const ParamTexts& params) {
    for (const auto& [key, value] : params) line(toml_key(key), toml_scalar(value));
  }
  void choice(const Choice& choice) {
    text("name", choice.name);
    params(choice.params);
  }
  void line(std::string_view key, std::string_view value) {
    out_ += fmt::format("{} = {}\n", key, value);
  }
  void raw(std::string_view text) { out_ += text; }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

std::string inline_choice(const Choice& choice) { return toml_quoted(choice.text()); }

void write_workload(Writer& out, const WorkloadConfig& workload) {
  out.section("workload");
  out.number("speed", workload.speed);
  out.whole("limit", workload.limit);
  if (workload.trace.empty()) {
    out.section("workload.generator");
    out.choice(workload.generator);
    return;
  }
  out.text("trace", workload.trace);
  if (!workload.sha256.empty()) out.text("sha256", workload.sha256);
  out.text("format", workload.format);
  out.flag("skip_bad", workload.skip_bad);
  out.flag("stream", workload.stream);
  out.text("rebase", workload.rebase);
  out.texts("statuses", workload.statuses);
  if (!workload.models.empty()) out.text("models", workload.models);
  if (!workload.estimates.file.empty()) {
    out.section("workload.estimates");
    out.text("file", workload.estimates.file);
    out.text("column", workload.estimates.column);
    out.number("negative", workload.estimates.negative);
  }
  if (!workload.settings.empty()) {
    out.section("workload.settings");
    out.params(workload.settings);
  }
}

void write_cluster(Writer& out, const ClusterConfig& cluster) {
  out.section("cluster");
  if (!cluster.shape.empty()) {
    out.text("shape", cluster.shape);
  } else if (!cluster.file.empty()) {
    out.text("file", cluster.file);
  } else {
    out.raw(cluster.text);
  }
}

void write_policies(Writer& out, const RunConfig& config) {
  const std::pair<std::string_view, const Choice*> choices[] = {
      {"pacing", &config.pacing},         {"progress", &config.progress},
      {"accounting", &config.accounting}, {"execution", &config.execution},
      {"admission", &config.admission},   {"scheduling", &config.scheduling},
      {"placement", &config.placement},
  };
  for (const auto& [section, choice] : choices) {
    if (choice->empty()) continue;
    out.section(section);
    out.choice(*choice);
  }
  for (const Choice& model : config.perf) {
    out.row("perf");
    out.choice(model);
  }
  for (const Choice& model : config.beliefs) {
    out.row("beliefs");
    out.choice(model);
  }
  if (!config.errors.empty()) {
    out.section("errors");
    out.choice(config.errors);
  }
  if (!config.scaling.empty()) {
    out.section("scaling");
    out.choice(config.scaling);
  }
  if (config.policy_sets.empty()) return;
  out.section("selector");
  out.choice(config.selector);
  for (const PolicySetConfig& policy_set : config.policy_sets) {
    out.row("policy_set");
    out.line("admission", inline_choice(policy_set.admission));
    out.line("scheduling", inline_choice(policy_set.scheduling));
    out.line("placement", inline_choice(policy_set.placement));
  }
}

// Only what is in use: most runs have none of it.
void write_stages(Writer& out, const RunConfig& config) {
  if (config.partitions_apart) {
    out.section("partitions");
    out.flag("apart", true);
  }
  if (!config.forecast.file.empty()) {
    const ForecastConfig& forecast = config.forecast;
    out.section("forecast");
    out.text("file", forecast.file);
    out.number("begin", forecast.begin);
    out.number("slot", forecast.slot);
    out.text("jobs", forecast.jobs);
    out.text("gpus", forecast.gpus);
    out.text("nodes", forecast.nodes);
  }
  if (!config.prices.empty()) {
    out.section("prices");
    if (!config.prices.file.empty()) out.text("file", config.prices.file);
    out.texts("sellers", config.prices.sellers);
    if (!config.prices.table.empty()) out.section("prices.table");
    for (const auto& [type, dollars] : config.prices.table) out.number(toml_key(type), dollars);
  }
  if (config.profiling.nodes > 0) {
    const ProfilingConfig& profiling = config.profiling;
    out.section("profiling");
    out.whole("nodes", profiling.nodes);
    out.whole("gpus_per_node", profiling.gpus_per_node);
    out.number("limit", profiling.limit);
    out.whole("largest", profiling.largest);
    out.flag("borrow", profiling.borrow);
    out.texts("donors", profiling.donors);
    out.text("lender", profiling.lender);
    out.flag("free", profiling.free);
    out.flag("online", profiling.online);
    out.flag("within", profiling.within);
  }
}

void write_costs(Writer& out, const RunConfig& config) {
  out.section("restart");
  out.number("first_start", config.restart.first_start);
  out.number("restart", config.restart.restart);
  out.number("checkpoint_interval", config.restart.checkpoint_interval);
  out.flag("stop_saves", config.restart.stop_saves);
  out.text("unknown", config.restart.unknown);
  for (const auto& [gpus, seconds] : config.restart.by_size) {
    out.row("restart.by_size");
    out.whole("gpus", gpus);
    out.number("seconds", seconds);
  }
  for (const RestartRow& row : config.restart.table) {
    out.row("restart.table");
    out.text("model", row.model);
    out.whole("gpus", row.gpus);
    out.number("seconds", row.seconds);
  }
  out.section("failures");
  out.number("node_mtbf", config.failures.node_mtbf);
  out.number("node_repair", config.failures.node_repair);
  out.number("gpu_mtbf", config.failures.gpu_mtbf);
  out.number("gpu_repair", config.failures.gpu_repair);
  if (config.failure_seed) out.whole("seed", *config.failure_seed);
  // Nothing is said of a life in which nothing happens.
  if (!config.life.any()) return;
  out.section("life");
  out.number("start_latency", config.life.start_latency);
  out.number("stop_latency", config.life.stop_latency);
  out.number("spread", config.life.spread);
  out.number("start_failure", config.life.start_failure);
  out.number("partial_gang", config.life.partial_gang);
  out.number("start_limit", config.life.start_limit);
  out.number("report_delay", config.life.report_delay);
  out.number("report_loss", config.life.report_loss);
  out.number("census", config.life.census);
  if (config.life_seed) out.whole("seed", *config.life_seed);
}

}  // namespace

std::string to_toml(const RunConfig& config) {
  Writer out;
  if (!config.name.empty()) out.text("name", config.name);
  if (!config.preset.empty()) {
    out.raw(fmt::format("# Started from the preset {}; all its settings are written out below.\n",
                        toml_quoted(config.preset)));
  }
  out.whole("seed", config.seed);
  if (config.durations != Durations::kTrue) out.text("durations", durations_name(config.durations));
  if (config.metrics != RunConfig{}.metrics) out.texts("metrics", config.metrics);
  write_workload(out, config.workload);
  write_cluster(out, config.cluster);
  write_policies(out, config);
  write_stages(out, config);
  write_costs(out, config);
  out.section("engine");
  out.whole("max_crashes", config.engine.max_crashes);
  out.flag("count_host", config.engine.count_host);
  out.number("until", config.engine.until);
  if (config.measure.first) {
    out.section("measure");
    out.whole("first", *config.measure.first);
    out.whole("last", *config.measure.last);
    out.flag("stop", config.measure.stop);
  }
  for (const auto& [kind, rows] : config.usual) {
    for (const auto& [name, params] : rows) {
      out.section(fmt::format("usual.{}.{}", kind, toml_key(name)));
      out.params(params);
    }
  }
  out.section("output");
  out.flag("jobs", config.output.jobs);
  out.flag("decisions", config.output.decisions);
  out.flag("turns", config.output.turns);
  return out.take();
}

}  // namespace muster
