#include <fmt/format.h>

#include "run/config.h"

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
  std::string statuses;
  for (const std::string& status : workload.statuses) {
    statuses += (statuses.empty() ? "" : ", ") + toml_quoted(status);
  }
  out.line("statuses", fmt::format("[{}]", statuses));
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
      {"pacing", &config.pacing},
      {"admission", &config.admission},
      {"scheduling", &config.scheduling},
      {"placement", &config.placement},
  };
  for (const auto& [section, choice] : choices) {
    out.section(section);
    out.choice(*choice);
  }
  for (const Choice& model : config.perf) {
    out.row("perf");
    out.choice(model);
  }
  if (config.combinations.empty()) return;
  out.section("selector");
  out.choice(config.selector);
  for (const CombinationConfig& combination : config.combinations) {
    out.row("combination");
    out.line("admission", inline_choice(combination.admission));
    out.line("scheduling", inline_choice(combination.scheduling));
    out.line("placement", inline_choice(combination.placement));
  }
}

void write_costs(Writer& out, const RunConfig& config) {
  out.section("restart");
  out.number("first_start", config.restart.first_start);
  out.number("restart", config.restart.restart);
  out.number("checkpoint_interval", config.restart.checkpoint_interval);
  out.flag("stop_saves", config.restart.stop_saves);
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
}

}  // namespace

std::string to_toml(const RunConfig& config) {
  Writer out;
  if (!config.name.empty()) out.text("name", config.name);
  if (!config.preset.empty()) {
    out.raw(fmt::format("# begun from the preset {}; all it says is written out below\n",
                        toml_quoted(config.preset)));
  }
  out.whole("seed", config.seed);
  write_workload(out, config.workload);
  write_cluster(out, config.cluster);
  write_policies(out, config);
  write_costs(out, config);
  out.section("engine");
  out.whole("max_crashes", config.engine.max_crashes);
  out.number("until", config.engine.until);
  out.flag("turn_stops_count", config.engine.turn_stops_count);
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
