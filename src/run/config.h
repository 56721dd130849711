// The description of one simulated run, as a plain value and as TOML in both directions.
//
// A description is put together from layers: a preset, a file, the command line; each replaces what
// it names. complete_config() then checks every name and number and writes every default out, so
// that what is stored beside a result says all there is to say. docs/configuration.md is the
// reference.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/sim/node_life.h"
#include "base/result.h"
#include "engine/engine.h"
#include "run/choice.h"
#include "run/toml.h"

namespace muster {

// Parameters of generators that are paths.
inline constexpr std::string_view kGeneratorFiles[] = {"trace", "log"};

struct WorkloadConfig {
  std::string trace;   // path of a trace; empty: the generator's jobs
  std::string sha256;  // of the trace; empty: whatever it holds
  std::string format;  // of the trace; empty: detected
  ParamTexts settings;
  bool skip_bad = false;
  bool stream = false;  // read the trace while simulating; it must be sorted
  std::string rebase = "auto";
  std::vector<std::string> statuses;
  Choice generator;
  double speed = 1;     // arrivals come so many times as fast
  long long limit = 0;  // only the first so many jobs; 0: all
};

// One of three; `shape` is the compact form, `text` a TOML document.
struct ClusterConfig {
  std::string shape;
  std::string file;
  std::string text;
  bool empty() const { return shape.empty() && file.empty() && text.empty(); }
};

// Policies that decide together, where a selector chooses among several such sets.
struct CombinationConfig {
  Choice admission;
  Choice scheduling;
  Choice placement;
};

struct RestartRow {
  std::string model;
  long long gpus = 0;  // 0: any number
  Seconds seconds = 0;
};

struct RestartConfig {
  Seconds first_start = 0;
  Seconds restart = 0;
  Seconds checkpoint_interval = 0;
  bool stop_saves = true;
  std::vector<RestartRow> table;
};

struct MeasureConfig {
  std::optional<long long> first;  // window of job ids that count, both ends included
  std::optional<long long> last;
  bool stop = true;  // end the run once all of them have left
};

struct OutputConfig {
  std::string folder;
  bool force = false;
  bool jobs = true;
  bool decisions = true;
  bool turns = false;
};

struct RunConfig {
  std::string name;
  std::string preset;  // where the description began; for people
  long long seed = 1;
  WorkloadConfig workload;
  ClusterConfig cluster;
  Choice pacing{"events", {}};
  Choice admission{"accept-all", {}};
  Choice scheduling{"fifo", {}};
  Choice placement{"consolidated", {}};
  std::vector<Choice> perf;
  Choice selector;
  std::vector<CombinationConfig> combinations;
  RestartConfig restart;
  FailureOptions failures;
  std::optional<long long> failure_seed;  // as given; otherwise the seed of the run
  EngineOptions engine;
  MeasureConfig measure;
  OutputConfig output;

  // What a preset wants of plug-ins when they are chosen: by kind and name.
  std::map<std::string, std::map<std::string, ParamTexts, std::less<>>, std::less<>> usual;

  // "las + consolidated", with the parameters that are not as usual.
  std::string label() const;
};

// Applies one layer. Relative paths in it are taken from `folder` (empty: as they are). The member
// `preset` is read and remembered but not loaded: see load_config().
Status apply_toml(RunConfig& config, const TomlNode& document, const std::string& where,
                  const std::string& folder = {});

// Checks everything that needs no file, and writes all defaults out. `preset` and `usual` are used
// up.
Result<RunConfig> complete_config(RunConfig config);

// The whole description as TOML.
std::string to_toml(const RunConfig& config);

// The cluster that the description names.
Result<ClusterSpec> make_cluster(const ClusterConfig& config, Symbols& symbols);

}  // namespace muster
