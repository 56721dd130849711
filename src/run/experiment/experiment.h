// Published figures, run again: which runs make one, and what their authors' artifact and paper say
// they should give.
//
// An experiment is a file experiments/<system>/<name>.toml: a run description shared by all its
// runs, and a list [[run]] of what differs, with expected figures and golden jobs. See
// docs/configuration.md.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/metric_list.h"
#include "report/metrics.h"
#include "report/progress.h"
#include "run/config/config.h"
#include "run/experiment/golden.h"
#include "run/experiment/hierarchy_task.h"
#include "run/experiment/model_task.h"
#include "run/experiment/runtime_task.h"

namespace muster {

// What should come out. NaN: not known.
//
// Keys are those of the metric list; run_preemptions, those of all jobs of the run;
// partitions.NAME.KEY, priorities.N.KEY and gpus.FIRST-LAST.KEY (avg_jct_s or avg_queue_s of a
// partition, of jobs of a priority, or with so many GPUs); jct_within.SECONDS, the share of jobs
// completed in that time; jct_at_rank.FRACTION, of n completion times in order the one at place
// FRACTION n, rounded down (a percentile as scripts compute it); ratio.KEY, a figure over that of
// the run it is compared with; speedup.KEY, its inverse; and avg_jct_ratio, the mean over jobs of
// the completion time over the one there. For models see run/experiment/model_task.h, for runtimes
// run/experiment/runtime_task.h, for hierarchies run/experiment/hierarchy_task.h.
struct ExpectedFigure {
  std::string key;
  double artifact = 0;
  double published = 0;
  // What the original's own runs span, where they disagree with each other: ours is judged by lying
  // between them.
  double least = kNoFigure;
  double most = kNoFigure;
};
inline constexpr std::string_view kWithinKey = "jct_within.";
inline constexpr std::string_view kRankKey = "jct_at_rank.";
inline constexpr std::string_view kRatioKey = "ratio.";
inline constexpr std::string_view kSpeedupKey = "speedup.";

struct ExperimentRun {
  std::string name;
  RunConfig config;                // complete
  std::vector<RunConfig> more;     // the same with other seeds: figures are means over all
  std::vector<RunConfig> against;  // what it is held against, seed by seed; or empty
  std::vector<ExpectedFigure> expected;
  std::optional<ModelTask> model;          // a model is trained and tested; nothing is simulated
  std::optional<RuntimeTask> runtime;      // a decision is timed; nothing is simulated
  std::optional<HierarchyTask> hierarchy;  // an allocation to entities; nothing is simulated
  GoldenSource golden;                     // its file is a path under the reference folders
  std::vector<std::string> shown;          // as in Experiment, of this run alone
  std::vector<std::string> also;           // the same
  long long seeds = 0;  // a policy that draws: run with its seeds 1 to this, means are compared
  long long draws = 0;  // a trace that was drawn: run with seeds 1 to this of what was drawn
  std::string missing;  // why it cannot be run: a file is not here, or a part of Muster
  bool simulated() const { return !model && !runtime && !hierarchy; }
};

struct Experiment {
  std::string system;
  std::string name;
  std::string title;
  std::string source;   // where the numbers come from
  double absolute = 0;  // tolerance of figures
  double relative = 0;
  double deviations = 0;  // of several draws or seeds, that a figure may lie from their mean
  // Figures that may be better than expected by any amount: smaller, or larger.
  std::vector<std::string> at_most;
  std::vector<std::string> at_least;
  std::vector<std::string> shown;  // beginnings of keys of figures that are shown and not judged
  std::vector<std::string> also;   // figures to show without a published value
  double jobs = 0;                 // tolerance of golden jobs, in seconds
  std::map<std::string, double, std::less<>> adjust;  // added to our figures before comparing
  std::vector<ExperimentRun> runs;
};

Result<Experiment> load_experiment(const std::string& system, const std::string& name);
Result<Experiment> parse_experiment(const TomlNode& document, const std::string& where);

struct FigureCheck {
  ExpectedFigure expected;
  double ours = 0;           // the mean, of several seeds
  double least = kNoFigure;  // of several seeds
  double most = kNoFigure;
  double deviation = 0;   // of several seeds: standard deviation
  double difference = 0;  // from the artifact, or from the paper where there is no artifact
  bool within = true;
  bool judged = true;
  std::string held_to;    // the rule by which it is judged, for a reader
  bool compared() const;  // there is something to compare it with
};

struct JobsCheck {
  bool compared = false;
  std::string unavailable;  // why not, if it should have been
  std::size_t jobs = 0;
  std::size_t unequal = 0;
  std::vector<std::string> examples;  // the first few that differ
};

struct RunCheck {
  std::string run;
  std::string missing;  // why it was not run
  std::vector<FigureCheck> figures;
  JobsCheck jobs;
  bool within() const;
};

struct ExperimentResult {
  std::vector<RunCheck> runs;
  bool complete = true;  // false: stopped
  bool within() const;
};

struct ExperimentOptions {
  unsigned threads = 0;
  std::function<bool()> keep_going = {};
  Progress* progress = nullptr;
  std::function<void()> on_run_end = {};  // told by the thread that ran it
  bool stopped() const { return keep_going && !keep_going(); }
};

// The figure of that key that can be had from the summary of a run: means of partitions and of GPU
// counts, and all of the metric list. Empty if there is no such figure.
std::optional<double> summary_figure(const RunSummary& summary, std::string_view key);

Result<ExperimentResult> run_experiment(const Experiment& experiment,
                                        const ExperimentOptions& options);

}  // namespace muster
