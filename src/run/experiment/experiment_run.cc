#include <algorithm>
#include <mutex>
#include <optional>

#include <fmt/format.h>

#include "base/parallel.h"
#include "base/text.h"
#include "run/assembly/simulation.h"
#include "run/experiment/experiment.h"
#include "run/experiment/experiment_check.h"
#include "run/experiment/held_runs.h"

namespace muster {
namespace {

double run_figure(const RunSummary& summary, const JobTimes& times, const std::string& key) {
  if (key == "run_preemptions") return times.stops();
  if (key.starts_with(kWithinKey)) {
    return times.within(parse_real(std::string_view(key).substr(kWithinKey.size())).value_or(0));
  }
  if (key.starts_with(kRankKey)) {
    return times.at_rank(parse_real(std::string_view(key).substr(kRankKey.size())).value_or(0));
  }
  return summary_figure(summary, key).value_or(kNoFigure);
}

// A run that is a task of another kind than a simulation. Empty if it was stopped.
Result<std::optional<RunCheck>> check_task(const Experiment& experiment, const ExperimentRun& run,
                                           const ExperimentOptions& options) {
  RunCheck check;
  check.run = run.name;
  const auto figures = run.model     ? run_model_task(*run.model, options.keep_going)
                       : run.runtime ? run_runtime_task(*run.runtime)
                                     : run_hierarchy_task(*run.hierarchy);
  if (options.stopped()) return std::optional<RunCheck>();
  if (!figures) return Error{fmt::format("run '{}': {}", run.name, figures.error().message)};
  for (const ExpectedFigure& expected : run.expected) {
    const auto found = figures->find(expected.key);
    check.figures.push_back(compare_figure(experiment, run, expected,
                                           found == figures->end() ? kNoFigure : found->second));
  }
  return std::optional<RunCheck>(std::move(check));
}

// The figures that compare a run with the one it is held against.
double ratio_figure(const RunSummary& summary, const Completions& ours, const HeldAgainst& theirs,
                    std::string_view key) {
  const bool speedup = key.starts_with(kSpeedupKey);
  if (!speedup && !key.starts_with(kRatioKey)) return ours.mean_ratio(theirs.times);
  const std::string_view figure = key.substr(speedup ? kSpeedupKey.size() : kRatioKey.size());
  const double mine = summary_figure(summary, figure).value_or(kNoFigure);
  const double other = summary_figure(theirs.summary, figure).value_or(kNoFigure);
  return speedup ? other / mine : mine / other;
}

// The description with another seed of its scheduling policy, or of what was drawn for its trace:
// the deadlines of a generator, models and deadlines of a raw trace. 0: as it is.
RunConfig seeded(RunConfig config, const ExperimentRun& run, int seed) {
  if (seed == 0) return config;
  const std::string text = std::to_string(seed);
  if (run.draws == 0) {
    config.scheduling.params["seed"] = text;
  } else if (config.workload.trace.empty()) {
    config.workload.generator.params["deadline_seed"] = text;
  } else {
    config.workload.settings["seed"] = text;
    config.workload.settings["deadline_seed"] = text;
  }
  return config;
}

// The golden jobs of a run; empty, with the reason in `check`, where their file is not here.
Result<std::vector<GoldenJob>> golden_of(const ExperimentRun& run, JobsCheck& check) {
  if (run.golden.file.empty()) return std::vector<GoldenJob>();
  const auto path = find_reference_file(run.golden.file);
  if (path) return read_golden(*path, run.golden);
  check.unavailable = path.error().message;
  return std::vector<GoldenJob>();
}

// What one simulation of a run gave; empty if it was stopped.
using Figures = std::vector<double>;
Result<std::optional<Figures>> measure_figures(const ExperimentRun& run, std::size_t number,
                                               int seed, HeldRuns& held,
                                               const ExperimentOptions& options, JobTimes& times) {
  const RunConfig config = seeded(number == 0 ? run.config : run.more[number - 1], run, seed);
  Completions ours(config);
  Both both(times, ours);
  const auto summary = measure_run(config, nullptr, options.keep_going, &both);
  if (!summary) return Error{fmt::format("run '{}': {}", run.name, summary.error().message)};
  if (!*summary) return std::optional<Figures>();
  std::shared_ptr<const HeldAgainst> theirs;
  if (!run.against.empty()) {
    const RunConfig& against = run.against[number];
    auto other = held.of(run.draws > 0 ? seeded(against, run, seed) : against, options.keep_going);
    if (!other) return Error{fmt::format("run '{}': {}", run.name, other.error().message)};
    theirs = std::move(*other);
    if (theirs == nullptr) return std::optional<Figures>();
  }
  Figures figures;
  for (const ExpectedFigure& expected : run.expected) {
    const std::string& key = expected.key;
    const bool compares =
        key == "avg_jct_ratio" || key.starts_with(kRatioKey) || key.starts_with(kSpeedupKey);
    figures.push_back(!compares           ? run_figure(**summary, times, key)
                      : theirs == nullptr ? kNoFigure
                                          : ratio_figure(**summary, ours, *theirs, key));
  }
  return std::optional<Figures>(std::move(figures));
}

// Empty if it was stopped.
Result<std::optional<RunCheck>> check_run(const Experiment& experiment, const ExperimentRun& run,
                                          int seed, HeldRuns& held,
                                          const ExperimentOptions& options) {
  RunCheck check;
  check.run = run.name;
  check.missing = run.missing;
  if (!run.missing.empty()) return std::optional<RunCheck>(std::move(check));
  if (!run.simulated()) return check_task(experiment, run, options);
  const auto golden = golden_of(run, check.jobs);
  if (!golden) return golden.error();
  const bool completions =
      std::any_of(run.expected.begin(), run.expected.end(), [](const ExpectedFigure& one) {
        return one.key.starts_with(kWithinKey) || one.key.starts_with(kRankKey);
      });
  std::optional<JobTimes> times;
  Figures means(run.expected.size(), 0);
  const std::size_t simulations = 1 + run.more.size();
  for (std::size_t i = 0; i < simulations; ++i) {
    times.emplace(*golden, run.golden.trace_ids, completions);
    const auto figures = measure_figures(run, i, seed, held, options, *times);
    if (!figures) return figures.error();
    if (!*figures) return std::optional<RunCheck>();
    for (std::size_t f = 0; f < means.size(); ++f) {
      means[f] += (**figures)[f] / static_cast<double>(simulations);
    }
  }
  for (std::size_t f = 0; f < means.size(); ++f) {
    check.figures.push_back(compare_figure(experiment, run, run.expected[f], means[f]));
  }
  if (!golden->empty()) compare_jobs(*golden, *times, run.golden, experiment.jobs, check.jobs);
  return std::optional<RunCheck>(std::move(check));
}

}  // namespace

Result<ExperimentResult> run_experiment(const Experiment& experiment,
                                        const ExperimentOptions& options) {
  struct Piece {
    std::size_t run = 0;
    int seed = 0;
  };
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < experiment.runs.size(); ++i) {
    const ExperimentRun& run = experiment.runs[i];
    const int seeds = run.missing.empty() ? static_cast<int>(std::max(run.seeds, run.draws)) : 0;
    for (int seed = std::min(1, seeds); seed <= seeds; ++seed) pieces.push_back({i, seed});
  }
  std::vector<std::optional<RunCheck>> checks(pieces.size());
  std::mutex mutex;
  std::optional<Error> error;
  HeldRuns held;
  ProgressTask* task =
      options.progress == nullptr
          ? nullptr
          : &options.progress->task(fmt::format("{} {}", experiment.system, experiment.name),
                                    pieces.size());
  in_parallel(pieces.size(), options.threads, [&](std::size_t i) {
    if (options.stopped()) return;
    const ExperimentRun& run = experiment.runs[pieces[i].run];
    const ProgressTask::Part part(task, run.name);
    auto check = check_run(experiment, run, pieces[i].seed, held, options);
    const std::lock_guard lock(mutex);
    if (options.on_run_end) options.on_run_end();
    if (task != nullptr) task->advance(1);
    if (check) {
      checks[i] = std::move(*check);
    } else if (!error) {
      error = check.error();
    }
  });
  if (task != nullptr) task->finish();
  if (error) return *error;
  ExperimentResult result;
  for (std::size_t i = 0; i < pieces.size();) {
    std::vector<RunCheck> seeds;
    bool complete = true;
    const std::size_t run = pieces[i].run;
    for (; i < pieces.size() && pieces[i].run == run; ++i) {
      complete = complete && checks[i].has_value();
      if (checks[i]) seeds.push_back(std::move(*checks[i]));
    }
    result.complete = result.complete && complete;
    if (complete)
      result.runs.push_back(merge_seeds(experiment, experiment.runs[run], std::move(seeds)));
  }
  return result;
}

}  // namespace muster
