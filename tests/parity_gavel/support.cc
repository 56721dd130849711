#include "parity_gavel/support.h"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "run/assembly/simulation.h"
#include "run/config/load_config.h"
#include "support/paths.h"

namespace muster {
namespace {

struct JobTimes final : Observer {
  std::map<int, double> times;
  void on_job_end(const JobRecord& job) override {
    if (job.status != JobState::kFinished) return;
    times[static_cast<int>(index(job.id))] = job.completion_time();
  }
};

}  // namespace

std::vector<std::map<std::string, std::string>> read_tsv(const std::string& relative) {
  std::ifstream file(shared_dir() / relative);
  std::vector<std::map<std::string, std::string>> rows;
  std::vector<std::string> header;
  std::string line;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#') continue;
    const auto cells = split(line, '\t');
    if (header.empty()) {
      header.assign(cells.begin(), cells.end());
      continue;
    }
    std::map<std::string, std::string> row;
    for (std::size_t i = 0; i < std::min(header.size(), cells.size()); ++i) {
      row[header[i]] = std::string(cells[i]);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

RunConfig gavel_config(const std::string& toml) {
  auto document = parse_toml(toml, "gavel");
  EXPECT_TRUE(document) << (document ? "" : document.error().message);
  if (!document) return {};
  ConfigLayers layers;
  layers.preset = (source_dir() / "presets/gavel.toml").string();
  auto config = load_config(*document, "gavel", "", layers);
  EXPECT_TRUE(config) << (config ? "" : config.error().message);
  if (!config) return {};
  auto complete = complete_config(std::move(*config));
  EXPECT_TRUE(complete) << (complete ? "" : complete.error().message);
  return complete ? std::move(*complete) : RunConfig{};
}

RunConfig gavel_run(const std::string& config, const std::string& policy,
                    const std::string& solver) {
  std::string name = "gavel-as-coded:policy=" + policy;
  std::replace(name.begin(), name.end(), '_', '-');
  if (!solver.empty()) name += ",solver=" + solver;
  const bool physical = config == "mmftrace_8_16_24";
  const std::string table =
      (shared_dir() / (physical ? "data/gavel/physical_cluster_throughputs.json" : kGavelTable))
          .string();
  std::string toml = fmt::format(
      "seed = 0\nscheduling = '{}'\nperf = [{{name = 'throughputs', file = '{}'}}]\n", name, table);
  if (config.starts_with("static100")) {
    toml += fmt::format(
        "[workload.generator]\nname = 'gavel'\nthroughputs = '{}'\nlam = 0\njobs = 100\n"
        "multi_gpu = {}\n",
        table, config == "static100multi");
    return gavel_config(toml);
  }
  const std::string trace = physical               ? "max_min_fairness.trace"
                            : config == "small222" ? "small_test.trace"
                                                   : "medium_test.trace";
  toml += fmt::format("cluster = '{}'\n", physical ? "8:16:24@4:2:2" : "2:2:2");
  toml += fmt::format(
      "[workload]\ntrace = '{}'\nformat = 'gavel'\nrebase = 'no'\n[workload.settings]\n"
      "throughputs = '{}'\n",
      (shared_dir() / "data/gavel/physical_cluster" / trace).string(), table);
  return gavel_config(toml);
}

std::map<int, double> completion_times(const RunConfig& config) {
  auto simulation = Simulation::make(config);
  EXPECT_TRUE(simulation) << (simulation ? "" : simulation.error().message);
  if (!simulation) return {};
  JobTimes times;
  (*simulation)->observe(times);
  const auto ran = (*simulation)->run();
  EXPECT_TRUE(ran) << (ran ? "" : ran.error().message);
  return times.times;
}

}  // namespace muster
