// The description of one simulated run, as a plain value and as TOML in both directions.
//
// A description is made of layers: a preset, a file, the command line; each replaces what it names.
// complete_config() then checks every name and number and writes every default out, so that the
// description stored with a result is complete. docs/configuration.md is the reference.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/sim/life.h"
#include "backend/sim/node_life.h"
#include "base/result.h"
#include "engine/engine.h"
#include "run/config/choice.h"
#include "run/config/live_metrics.h"
#include "run/config/policy_loader.h"
#include "run/config/toml.h"
#include "workload/believed_jobs.h"

namespace muster {

// Parameters of generators that are paths.
inline constexpr std::string_view kGeneratorFiles[] = {"trace", "log", "throughputs"};
// The same of performance models.
inline constexpr std::string_view kPerfFiles[] = {"profiles", "pairs", "file", "folder"};

// A CSV file with what is known of each job beside the trace, by the trace's own job ids.
struct EstimatesConfig {
  std::string file;                 // empty: the trace's own estimates
  std::string column = "estimate";  // seconds; the ids stand in job_id
  double negative = 1;              // what an estimate below 0 counts as
};

// The parameter of scheduling policies that is a list of numbers or the path of one.
inline constexpr std::string_view kDurations = "durations";
bool names_a_file(std::string_view durations);

struct WorkloadConfig {
  std::string trace;   // path of a trace; empty: the generator's jobs
  std::string sha256;  // of the trace; empty: whatever it holds
  std::string format;  // of the trace; empty: detected
  ParamTexts settings;
  bool skip_bad = false;
  bool stream = false;  // read the trace while simulating; it must be sorted
  std::string rebase = "auto";
  std::vector<std::string> statuses;
  EstimatesConfig estimates;
  std::string models;  // CSV of job_id, model, dataset, batchsize, amp; empty: as in the trace
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
struct PolicySetConfig {
  Choice admission;
  Choice scheduling;
  Choice placement;
  friend bool operator==(const PolicySetConfig&, const PolicySetConfig&) = default;
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
  std::vector<std::pair<long long, Seconds>> by_size;  // up to so many GPUs it costs so much
  std::string unknown = "usual";  // who is not in the table pays the usual; or "refuse": an error
  std::vector<RestartRow> table;
};

// A CSV file with one row per slot, and the names of its columns.
struct ForecastConfig {
  std::string file;   // empty: no forecast
  Seconds begin = 0;  // of the first slot, on the clock of the trace
  Seconds slot = 600;
  std::string jobs = "jobs";
  std::string gpus = "gpus";
  std::string nodes;  // empty: no nodes are forecast
};

// Nodes that profile small jobs before the run; see run/assembly/profiling.h.
struct ProfilingConfig {
  long long nodes = 0;  // 0: nothing is profiled
  long long gpus_per_node = 8;
  Seconds limit = 200;
  long long largest = 8;
  bool borrow = true;
  std::vector<std::string> donors;
  std::string lender;
  bool free = false;    // it costs jobs that go on no time
  bool online = false;  // beside the run: see run/assembly/online_profiling.h
  // On GPUs of the cluster itself, before its queue: see policy/lucid/profiled_queue.h. The nodes
  // that are borrowed or given mean nothing then, nor does `free`.
  bool within = false;
};

// Dollars per GPU and hour, by GPU type; and a CSV file of prices that change
// (run/assembly/prices.h).
struct PricesConfig {
  std::map<std::string, double> table;
  std::string file;
  std::vector<std::string> sellers;  // of the file, whose prices count; empty: all
  bool empty() const { return table.empty() && file.empty(); }
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
  Choice progress;  // empty: that of the pacing
  Choice accounting{"net", {}};
  Choice execution{"turns", {}};
  Choice admission{"accept-all", {}};
  Choice scheduling{"fifo", {}};
  Choice placement{"consolidated", {}};
  std::vector<Choice> perf;
  std::vector<Choice> beliefs;  // what policies take for perf; empty: the truth
  // What policies are told of the lengths of jobs.
  Durations durations = Durations::kTrue;
  Choice errors;   // of estimates, where those are believed; empty: the jobs' own estimates
  Choice scaling;  // empty: all nodes are powered
  Choice selector;
  std::vector<PolicySetConfig> policy_sets;
  bool partitions_apart = false;  // every partition is simulated alone
  ForecastConfig forecast;
  ProfilingConfig profiling;
  PricesConfig prices;
  RestartConfig restart;
  FailureOptions failures;
  std::optional<long long> failure_seed;  // as given; otherwise the seed of the run
  LifeOptions life;
  std::optional<long long> life_seed;  // likewise
  // What policies see of the numbers that live jobs report; nobody reports any in a simulation.
  std::vector<std::string> metrics = {kLiveMetrics.begin(), kLiveMetrics.end()};
  EngineOptions engine;
  MeasureConfig measure;
  OutputConfig output;

  // Makes the policies that no table has; null: there are none.
  std::shared_ptr<const PolicyLoader> loader = usual_policy_loader();

  // What a preset wants of plug-ins when they are chosen: by kind and name.
  std::map<std::string, std::map<std::string, ParamTexts, std::less<>>, std::less<>> usual;

  // Every path that the description names, to be found, anchored or replaced.
  std::vector<std::string*> paths();

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

// The policy sets that decide: those of a selector, or the only one.
std::vector<PolicySetConfig> deciding_sets(const RunConfig& config);

// What a complete description will hardly mean, for people; empty: nothing odd.
std::string doubt_about(const RunConfig& config);

// The whole description as TOML.
std::string to_toml(const RunConfig& config);

// The first line in which two descriptions differ, in words for a message.
std::string first_difference(std::string_view before, std::string_view now);

// Whether the description names a generator without end and no limit.
bool endless(const WorkloadConfig& workload);

// The cluster that the description names.
Result<ClusterSpec> make_cluster(const ClusterConfig& config, Symbols& symbols);
// A cluster as a cluster file (docs/trace-formats.md has the schema).
std::string cluster_file_text(const ClusterSpec& cluster, const Symbols& symbols);

}  // namespace muster
