#include "run/assembly/recorded_run.h"

#include <chrono>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "report/result_folder.h"
#include "run/assembly/simulation.h"
#include "run/config/plugins.h"
#include "workload/data/sha256.h"

namespace muster {
namespace {

// What goes to inputs/: the description, and the cluster's file beside it.
Result<std::map<std::string, std::string>> inputs_of(RunConfig config) {
  std::map<std::string, std::string> inputs;
  const auto anchor = [](std::string& path) {
    if (path.empty() || path == "-") return;
    path = std::filesystem::absolute(path).lexically_normal().string();
  };
  for (std::string* path : config.paths()) {
    if (path != &config.cluster.file) anchor(*path);
  }
  // What cannot be read is told by the reader of the trace, in its own words.
  if (!config.workload.trace.empty() && std::filesystem::is_regular_file(config.workload.trace)) {
    if (auto sum = sha256_of_file(config.workload.trace)) config.workload.sha256 = *sum;
  }
  if (!config.cluster.file.empty()) {
    auto text = read_file(config.cluster.file);
    if (!text) return text.error();
    config.cluster.file =
        "cluster" + std::filesystem::path(config.cluster.file).extension().string();
    inputs[config.cluster.file] = std::move(*text);
  }
  inputs["run.toml"] =
      "# All that made this result. To run it again: muster simulate --config run.toml\n" +
      to_toml(config);
  return inputs;
}

// Writes to the folder and counts for the progress display.
class Recorder final : public Observer {
 public:
  Recorder(ResultWriter* writer, ProgressTask* task) : writer_(writer), task_(task) {}
  void on_job_end(const JobRecord&) override {
    if (task_ != nullptr) task_->advance(1);
  }
  bool failed() const { return writer_ != nullptr && writer_->failed(); }

 private:
  ResultWriter* writer_;
  ProgressTask* task_;
};

std::string cluster_text(const ClusterConfig& cluster) {
  if (!cluster.shape.empty()) return cluster.shape;
  return cluster.file.empty() ? "described in the run" : cluster.file;
}

std::vector<std::string> names_of(const std::vector<Symbol>& list, const Symbols& symbols) {
  std::vector<std::string> names;
  names.reserve(list.size());
  for (const Symbol symbol : list) names.push_back(symbols.text(symbol));
  return names;
}

std::string shown(std::string_view kind, const Choice& choice) {
  const auto row = find_plugin(plugin_kind(kind), choice.name);
  return row ? shorten_choice(*(*row)->params, choice).text() : choice.text();
}

std::string rerun_command(const std::string& folder) {
  return fmt::format("muster simulate --config {}/inputs/run.toml", folder);
}

Result<std::unique_ptr<ResultWriter>> open_results(const RunConfig& config,
                                                   const Symbols& symbols) {
  auto inputs = inputs_of(config);
  if (!inputs) return inputs.error();
  ResultOptions options;
  options.folder = config.output.folder;
  options.force = config.output.force;
  options.jobs = config.output.jobs;
  options.decisions = config.output.decisions;
  options.turns = config.output.turns;
  options.metrics = metrics_options(config);
  options.inputs = std::move(*inputs);
  return ResultWriter::open(std::move(options), symbols);
}

}  // namespace

std::string file_name_for(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '.' || c == '_') {
      out += static_cast<char>(std::tolower(byte));
    } else if (!out.empty() && out.back() != '-') {
      out += '-';
    }
  }
  while (!out.empty() && out.back() == '-') out.pop_back();
  return out.empty() || out.front() == '.' ? "run" + out : out;
}

RunInfo describe_run(const RunConfig& config) {
  RunInfo info;
  info.label = config.name.empty() ? config.label() : config.name;
  const auto add = [&](std::string name, std::string value) {
    info.settings.emplace_back(std::move(name), std::move(value));
  };
  if (config.workload.trace.empty()) {
    add("workload", shown("generator", config.workload.generator));
  } else {
    add("trace", config.workload.trace);
  }
  if (config.workload.speed != 1)
    add("arrivals", fmt::format("{} times as fast", config.workload.speed));
  if (config.workload.limit > 0) add("jobs", fmt::format("the first {}", config.workload.limit));
  add("cluster", cluster_text(config.cluster));
  add("pacing", shown("pacing", config.pacing));
  if (config.policy_sets.empty()) {
    add("admission", shown("admission", config.admission));
    add("scheduling", shown("scheduling", config.scheduling));
    add("placement", shown("placement", config.placement));
  } else {
    add("selector", shown("selector", config.selector));
    for (const PolicySetConfig& policy_set : config.policy_sets) {
      add("policy_set", fmt::format("{} + {} + {}", shown("scheduling", policy_set.scheduling),
                                    shown("placement", policy_set.placement),
                                    shown("admission", policy_set.admission)));
    }
  }
  for (const Choice& model : config.perf) add("performance", shown("perf", model));
  if (config.partitions_apart) add("partitions", "each simulated alone");
  if (!config.scaling.empty()) add("scaling", shown("scaling", config.scaling));
  if (config.profiling.nodes > 0) {
    add("profiling", fmt::format("{} nodes, {} s, jobs of up to {} GPUs", config.profiling.nodes,
                                 config.profiling.limit, config.profiling.largest));
  }
  if (!config.workload.estimates.file.empty()) add("estimates", config.workload.estimates.file);
  if (!config.forecast.file.empty()) add("forecast", config.forecast.file);
  const RestartConfig& restart = config.restart;
  if (restart.restart > 0 || restart.first_start > 0 || !restart.table.empty()) {
    add("restart cost", fmt::format("{} s at first, {} s later{}", restart.first_start,
                                    restart.restart, restart.table.empty() ? "" : ", by model"));
  }
  if (config.failures.any()) {
    add("failures", fmt::format("node every {} s, GPU every {} s on average",
                                config.failures.node_mtbf, config.failures.gpu_mtbf));
  }
  if (const LifeOptions& life = config.life; life.any()) {
    add("life", fmt::format("starts take {} s and fail {:g} %, stops take {} s", life.start_latency,
                            100 * life.start_failure, life.stop_latency));
  }
  if (config.measure.last) {
    add("measured jobs", fmt::format("{} to {}", *config.measure.first, *config.measure.last));
  }
  add("seed", fmt::to_string(config.seed));
  return info;
}

Result<RecordedRun> record_run(const RunConfig& config, std::shared_ptr<const SharedJobs> jobs,
                               const RunHooks& hooks) {
  const auto begun = std::chrono::steady_clock::now();
  auto simulation = Simulation::make(config, std::move(jobs));
  if (!simulation) return simulation.error();
  RecordedRun run;
  run.info = describe_run(config);
  const ClusterSpec& cluster = (*simulation)->cluster();
  run.info.partitions = names_of(cluster.partition_names(), (*simulation)->symbols());
  run.info.gpu_types = names_of(cluster.gpu_types(), (*simulation)->symbols());

  std::unique_ptr<ResultWriter> writer;
  std::optional<MetricsFold> fold;
  if (config.output.folder.empty()) {
    fold.emplace((*simulation)->symbols(), metrics_options(config));
    (*simulation)->observe(*fold);
  } else {
    auto opened = open_results(config, (*simulation)->symbols());
    if (!opened) return opened.error();
    run.info.rerun = rerun_command(config.output.folder);
    writer = std::move(*opened);
    (*simulation)->observe(*writer);
  }
  if (hooks.warn && (*simulation)->knows_warnings()) hooks.warn((*simulation)->warnings());
  ProgressTask* task = hooks.progress == nullptr
                           ? nullptr
                           : &hooks.progress->task(run.info.label, (*simulation)->expected_jobs());
  Recorder recorder(writer.get(), task);
  (*simulation)->observe(recorder);
  if (hooks.observer != nullptr) (*simulation)->observe(*hooks.observer);
  (*simulation)->save(hooks.save);

  const auto ended = (*simulation)->run([&] {
    return !recorder.failed() && (!hooks.keep_going || hooks.keep_going());
  });
  if (task != nullptr) task->finish();
  if (!ended) {
    if (writer != nullptr) writer->abandon();
    return ended.error();
  }
  run.complete = *ended || recorder.failed();
  run.info.notes = (*simulation)->notes();
  run.info.warnings = (*simulation)->warnings();
  run.info.clairvoyant = (*simulation)->clairvoyant();
  run.info.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  run.info.peak_rss_mb = peak_rss_mb();
  run.summary = writer == nullptr ? fold->summary() : writer->metrics().summary();
  run.summary.metrics.wall_s = run.info.wall_s;
  run.summary.metrics.peak_rss_mb = run.info.peak_rss_mb;
  if (writer == nullptr) return run;
  auto placed =
      run.complete ? writer->finish(run.info) : writer->finish_incomplete(run.info, "interrupted");
  if (!placed) {
    run.unwritten = placed.error();
    return run;
  }
  run.folder = placed->folder;
  run.summary = std::move(placed->summary);
  return run;
}

}  // namespace muster
