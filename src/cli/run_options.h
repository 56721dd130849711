// The options that describe a run, shared by `simulate`, `compare` and `sweep`.
#pragma once

#include <string>
#include <vector>

#include "run/config/load_config.h"

namespace CLI {
class App;
}

namespace muster {

struct RunOptions {
  std::string trace;
  std::string config;
  std::string preset;
  std::string generator;
  std::vector<std::string> clusters;
  std::string pacing;
  std::vector<std::string> admissions;
  std::vector<std::string> schedulings;
  std::vector<std::string> placements;
  std::vector<std::string> perf;
  std::vector<std::string> beliefs;
  std::string scaling;
  std::string estimates;
  std::string durations;
  std::string selector;
  std::vector<std::string> policy_sets;  // scheduling+placement+admission
  std::string seed;
  std::string window;  // FIRST-LAST
  std::string limit;
  std::string format;
  std::string restart;
  std::string checkpoint;
  std::string node_mtbf;
  std::string node_repair;
  bool skip_bad = false;
  bool ignore_host = false;
  std::vector<std::string> plugins;  // loaded before the command line is parsed
  bool stream = false;
  bool ideal = false;
  std::vector<std::string> settings;  // --set
};

// With `several`, the kinds of policies and the cluster may be given more than once.
void add_run_options(CLI::App& command, RunOptions& options, bool several);

// The layers that these options stand for. Of what may be given several times, only single values
// are in it; the caller makes runs of the others.
Result<ConfigLayers> layers_of(const RunOptions& options);

// Choices as a setting, for one of the several.
ConfigSetting setting_of(std::string_view key, std::string_view value, std::string_view where);

struct OutputOptions {
  std::string folder;
  bool no_save = false;
  bool force = false;
  bool turns = false;
  bool json = false;
  bool quiet = false;
  std::vector<std::string> metrics;
};

void add_output_options(CLI::App& command, OutputOptions& options);

// Whether all of these are figures; the error suggests the nearest.
Status check_metrics(const std::vector<std::string>& keys);

}  // namespace muster
