#include <algorithm>
#include <cmath>
#include <future>
#include <map>
#include <mutex>
#include <optional>

#include <fmt/format.h>

#include "base/parallel.h"
#include "base/text.h"
#include "run/assembly/simulation.h"
#include "run/experiment/experiment.h"

namespace muster {
namespace {

constexpr std::size_t kExamples = 5;

std::string outcome_of(const JobRecord& job) {
  if (job.status == JobState::kRefused) return "declined";
  if (!job.has_deadline()) return "best_effort";
  return job.met_deadline() ? "met" : "late";
}

// Keeps what golden values and figures are about: the times of jobs, and stops.
class JobTimes final : public Observer {
 public:
  JobTimes(const std::vector<GoldenJob>& golden, bool trace_ids, bool completions)
      : trace_ids_(trace_ids), completions_(completions) {
    if (golden.empty()) return;
    first_ = golden.front().id;
    times_.resize(static_cast<std::size_t>(golden.back().id - first_) + 1);
  }
  void on_job_end(const JobRecord& job) override {
    if (completions_ && job.status == JobState::kFinished) {
      completion_.push_back(job.completion_time());
    }
    const long long id =
        trace_ids_ ? parse_integer(job.name).value_or(-1) : static_cast<long long>(index(job.id));
    if (id < first_ || id - first_ >= static_cast<long long>(times_.size())) return;
    times_[static_cast<std::size_t>(id - first_)] = {id,        job.submit,      job.end,
                                                     job.start, job.preemptions, outcome_of(job)};
  }
  void on_turn(const TurnStats& turn) override { stops_ += turn.stops; }

  double stops() const { return static_cast<double>(stops_); }
  // The share of jobs that were completed within so many seconds.
  double within(double seconds) const {
    const auto count = std::count_if(completion_.begin(), completion_.end(),
                                     [seconds](double one) { return one <= seconds; });
    return static_cast<double>(count) / static_cast<double>(completion_.size());
  }
  const std::optional<GoldenJob>& of(long long id) const {
    return times_[static_cast<std::size_t>(id - first_)];
  }

 private:
  bool trace_ids_;
  bool completions_;
  long long first_ = 0;
  long long stops_ = 0;
  std::vector<std::optional<GoldenJob>> times_;
  std::vector<double> completion_;
};

// Completion times of the jobs that are measured.
class Completions final : public Observer {
 public:
  explicit Completions(const RunConfig& config) : options_(metrics_options(config)) {}
  void on_job_end(const JobRecord& job) override {
    if (job.id < options_.first || job.id > options_.last) return;
    if (job.status == JobState::kFinished) times_[job.id] = job.completion_time();
  }
  // The mean over the jobs of both of ours over theirs.
  double mean_ratio(const Completions& theirs) const {
    double sum = 0;
    std::size_t count = 0;
    for (const auto& [job, time] : times_) {
      const auto found = theirs.times_.find(job);
      if (found == theirs.times_.end() || !(found->second > 0)) continue;
      sum += time / found->second;
      ++count;
    }
    return sum / static_cast<double>(count);
  }

 private:
  MetricsFold::Options options_;
  std::map<JobId, double> times_;
};

// A run that others are held against: made once, however many those are.
struct HeldAgainst {
  RunSummary summary;
  Completions times;
};
using Held = Result<std::shared_ptr<const HeldAgainst>>;

class HeldRuns {
 public:
  // Null if it was stopped.
  Held of(const RunConfig& config, const std::function<bool()>& keep_going) {
    std::promise<Held> mine;
    std::shared_future<Held> made;
    bool first = false;
    {
      const std::lock_guard lock(mutex_);
      RunConfig nameless = config;
      nameless.name.clear();
      const auto [found, fresh] = runs_.try_emplace(to_toml(nameless));
      if (fresh) found->second = mine.get_future().share();
      made = found->second;
      first = fresh;
    }
    if (!first) return made.get();
    auto run = std::make_shared<HeldAgainst>(HeldAgainst{{}, Completions(config)});
    const auto summary = measure_run(config, nullptr, keep_going, &run->times);
    if (!summary) {
      mine.set_value(Held(summary.error()));
    } else if (!*summary) {
      mine.set_value(std::shared_ptr<const HeldAgainst>());
    } else {
      run->summary = **summary;
      mine.set_value(std::shared_ptr<const HeldAgainst>(std::move(run)));
    }
    return made.get();
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_future<Held>> runs_;
};

// What is compared, of a job of ours or of theirs.
std::string span_text(const GoldenJob& job, const GoldenSource& source) {
  const Seconds from = source.start.empty() ? job.submit : job.start;
  std::string text = fmt::format("{} to {}", exact_text(from), exact_text(job.end));
  if (!source.outcome.empty()) text = fmt::format("{} at {}", job.outcome, exact_text(job.end));
  if (!source.preempted.empty()) text += fmt::format(", preempted {} times", job.preempted);
  return text;
}

bool equal(const GoldenJob& ours, const GoldenJob& theirs, const GoldenSource& source,
           double allowed) {
  const auto same = [allowed](Seconds a, Seconds b) { return std::abs(a - b) <= allowed; };
  if (!source.outcome.empty() && ours.outcome != theirs.outcome) return false;
  if (theirs.outcome == "declined") return true;
  return same(ours.end, theirs.end) &&
         (source.submit.empty() || same(ours.submit, theirs.submit)) &&
         (source.start.empty() || same(ours.start, theirs.start)) &&
         (source.preempted.empty() || ours.preempted == theirs.preempted);
}

void compare_jobs(const std::vector<GoldenJob>& golden, const JobTimes& times,
                  const GoldenSource& source, double allowed, JobsCheck& check) {
  check.compared = true;
  check.jobs = golden.size();
  for (const GoldenJob& theirs : golden) {
    const std::optional<GoldenJob>& ours = times.of(theirs.id);
    if (ours && equal(*ours, theirs, source, allowed)) continue;
    ++check.unequal;
    if (check.examples.size() == kExamples) continue;
    check.examples.push_back(fmt::format("job {}: ours {}, artifact {}", theirs.id,
                                         ours ? span_text(*ours, source) : "never ended",
                                         span_text(theirs, source)));
  }
}

bool listed(const std::vector<std::string>& keys, const std::string& key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

bool begins_one(const std::vector<std::string>& starts, const std::string& key) {
  return std::any_of(starts.begin(), starts.end(),
                     [&key](const std::string& start) { return key.starts_with(start); });
}

// The rule by which a figure is judged, in words.
std::string rule_of(const Experiment& experiment, const FigureCheck& check) {
  const ExpectedFigure& expected = check.expected;
  if (!check.compared()) return "";
  if (!check.judged) return "shown";
  if (!std::isnan(expected.least))
    return fmt::format("{:g} to {:g}", expected.least, expected.most);
  if (listed(experiment.at_most, expected.key)) return "at most";
  if (listed(experiment.at_least, expected.key)) return "at least";
  std::string rule;
  const auto add = [&rule](const std::string& part) { rule += (rule.empty() ? "" : " + ") + part; };
  if (experiment.relative > 0) add(fmt::format("{:g} %", 100 * experiment.relative));
  if (experiment.absolute > 0) add(fmt::format("{:g}", experiment.absolute));
  if (experiment.deviations > 0) add(fmt::format("{:g} sd", experiment.deviations));
  return rule.empty() ? "equal" : rule;
}

FigureCheck compare_figure(const Experiment& experiment, const ExperimentRun& run,
                           const ExpectedFigure& expected, double ours, double deviation = 0) {
  FigureCheck check;
  check.expected = expected;
  check.ours = ours;
  if (const auto add = experiment.adjust.find(expected.key); add != experiment.adjust.end()) {
    check.ours += add->second;
  }
  const double reference = std::isnan(expected.artifact) ? expected.published : expected.artifact;
  check.difference = check.ours - reference;
  const double allowed = experiment.absolute + experiment.relative * std::abs(reference) +
                         experiment.deviations * deviation;
  double beyond = std::abs(check.difference);
  if (listed(experiment.at_most, expected.key)) beyond = check.difference;
  if (listed(experiment.at_least, expected.key)) beyond = -check.difference;
  check.judged = check.compared() && !begins_one(experiment.shown, expected.key) &&
                 !begins_one(run.shown, expected.key);
  const bool in_spread = std::isnan(expected.least)
                             ? beyond <= allowed
                             : check.ours >= expected.least && check.ours <= expected.most;
  check.within = !check.judged || in_spread;
  check.held_to = rule_of(experiment, check);
  return check;
}

// Tells several observers.
class Both final : public Observer {
 public:
  Both(Observer& first, Observer& second) : first_(first), second_(second) {}
  void on_job_end(const JobRecord& job) override {
    first_.on_job_end(job);
    second_.on_job_end(job);
  }
  void on_turn(const TurnStats& turn) override { first_.on_turn(turn); }

 private:
  Observer& first_;
  Observer& second_;
};

double run_figure(const RunSummary& summary, const JobTimes& times, const std::string& key) {
  if (key == "run_preemptions") return times.stops();
  if (key.starts_with(kWithinKey)) {
    return times.within(parse_real(std::string_view(key).substr(kWithinKey.size())).value_or(0));
  }
  return summary_figure(summary, key).value_or(kNoFigure);
}

// A run that is a task of another kind than a simulation.
Result<std::optional<RunCheck>> check_task(const Experiment& experiment, const ExperimentRun& run) {
  RunCheck check;
  check.run = run.name;
  const auto figures = run.model     ? run_model_task(*run.model)
                       : run.runtime ? run_runtime_task(*run.runtime)
                                     : run_hierarchy_task(*run.hierarchy);
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

Result<std::optional<RunCheck>> check_run(const Experiment& experiment, const ExperimentRun& run,
                                          int seed, HeldRuns& held,
                                          const ExperimentOptions& options) {
  RunCheck check;
  check.run = run.name;
  check.missing = run.missing;
  if (!run.missing.empty()) return std::optional<RunCheck>(std::move(check));
  if (!run.simulated()) return check_task(experiment, run);
  std::vector<GoldenJob> golden;
  if (!run.golden.file.empty()) {
    if (const auto path = find_reference_file(run.golden.file); path) {
      auto read = read_golden(*path, run.golden);
      if (!read) return read.error();
      golden = std::move(*read);
    } else {
      check.jobs.unavailable = path.error().message;
    }
  }
  const bool completions =
      std::any_of(run.expected.begin(), run.expected.end(),
                  [](const ExpectedFigure& one) { return one.key.starts_with(kWithinKey); });
  std::optional<JobTimes> times;
  std::vector<double> figures(run.expected.size(), 0);
  const std::size_t seeds = 1 + run.more.size();
  for (std::size_t s = 0; s < seeds; ++s) {
    const RunConfig config = seeded(s == 0 ? run.config : run.more[s - 1], run, seed);
    Completions ours(config);
    times.emplace(golden, run.golden.trace_ids, completions);
    Both both(*times, ours);
    const auto summary = measure_run(config, nullptr, options.keep_going, &both);
    if (!summary) return Error{fmt::format("run '{}': {}", run.name, summary.error().message)};
    if (!*summary) return std::optional<RunCheck>();
    std::shared_ptr<const HeldAgainst> theirs;
    if (!run.against.empty()) {
      const RunConfig& against = run.against[s];
      auto other =
          held.of(run.draws > 0 ? seeded(against, run, seed) : against, options.keep_going);
      if (!other) return Error{fmt::format("run '{}': {}", run.name, other.error().message)};
      theirs = std::move(*other);
      if (theirs == nullptr) return std::optional<RunCheck>();
    }
    for (std::size_t i = 0; i < figures.size(); ++i) {
      const std::string& key = run.expected[i].key;
      const bool compares =
          key == "avg_jct_ratio" || key.starts_with(kRatioKey) || key.starts_with(kSpeedupKey);
      const double figure = !compares           ? run_figure(**summary, *times, key)
                            : theirs == nullptr ? kNoFigure
                                                : ratio_figure(**summary, ours, *theirs, key);
      figures[i] += figure / static_cast<double>(seeds);
    }
  }
  for (std::size_t i = 0; i < figures.size(); ++i) {
    check.figures.push_back(compare_figure(experiment, run, run.expected[i], figures[i]));
  }
  if (!golden.empty()) compare_jobs(golden, *times, run.golden, experiment.jobs, check.jobs);
  return std::optional<RunCheck>(std::move(check));
}

// Several seeds of one run: means are compared, and how far they lie apart is shown.
RunCheck merge_seeds(const Experiment& experiment, const ExperimentRun& run,
                     std::vector<RunCheck> checks) {
  if (checks.size() == 1) return std::move(checks.front());
  // Adjusted already, each.
  Experiment plain = experiment;
  plain.adjust.clear();
  const auto count = static_cast<double>(checks.size());
  RunCheck merged = checks.front();
  for (std::size_t f = 0; f < merged.figures.size(); ++f) {
    double sum = 0;
    double least = checks[0].figures[f].ours;
    double most = least;
    for (const RunCheck& check : checks) {
      sum += check.figures[f].ours;
      least = std::min(least, check.figures[f].ours);
      most = std::max(most, check.figures[f].ours);
    }
    const double mean = sum / count;
    double squares = 0;
    for (const RunCheck& check : checks) {
      squares += (check.figures[f].ours - mean) * (check.figures[f].ours - mean);
    }
    const double deviation = std::sqrt(squares / (count - 1));
    merged.figures[f] = compare_figure(plain, run, merged.figures[f].expected, mean, deviation);
    merged.figures[f].least = least;
    merged.figures[f].most = most;
    merged.figures[f].deviation = deviation;
  }
  return merged;
}

}  // namespace

std::optional<double> summary_figure(const RunSummary& summary, std::string_view key) {
  if (const MetricInfo* info = find_metric(key)) return summary.metrics.*info->field;
  const std::size_t first = key.find('.');
  const std::size_t last = key.rfind('.');
  if (first == std::string_view::npos || first == last) return std::nullopt;
  const std::string_view kind = key.substr(0, first);
  const std::string_view name = key.substr(first + 1, last - first - 1);
  double GroupRow::*field =
      key.substr(last + 1) == "avg_jct_s" ? &GroupRow::avg_jct_s : &GroupRow::avg_queue_s;
  if (kind == "partitions" || kind == "priorities") {
    for (const GroupRow& row : kind == "partitions" ? summary.partitions : summary.priorities) {
      if (row.name == name) return row.*field;
    }
    return std::nullopt;
  }
  // "9-", "-8" or "4-8" GPUs.
  const std::size_t dash = name.find('-');
  if (kind != "gpus" || dash == std::string_view::npos) return std::nullopt;
  const long long least = parse_integer(name.substr(0, dash)).value_or(0);
  const long long most = parse_integer(name.substr(dash + 1)).value_or(1'000'000'000);
  double sum = 0;
  double jobs = 0;
  for (const GroupRow& row : summary.sizes) {
    const long long gpus = parse_integer(row.name).value_or(-1);
    if (gpus < least || gpus > most || row.finished == 0) continue;
    sum += row.*field * row.finished;
    jobs += row.finished;
  }
  return jobs == 0 ? std::nullopt : std::optional<double>(sum / jobs);
}

bool FigureCheck::compared() const {
  return !std::isnan(expected.artifact) || !std::isnan(expected.published);
}

bool RunCheck::within() const {
  return jobs.unequal == 0 && std::all_of(figures.begin(), figures.end(),
                                          [](const FigureCheck& one) { return one.within; });
}

bool ExperimentResult::within() const {
  return std::all_of(runs.begin(), runs.end(), [](const RunCheck& one) { return one.within(); });
}

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
    auto check =
        check_run(experiment, experiment.runs[pieces[i].run], pieces[i].seed, held, options);
    const std::lock_guard lock(mutex);
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
