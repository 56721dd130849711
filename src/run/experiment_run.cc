#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"
#include "run/experiment.h"
#include "run/parallel.h"
#include "run/simulation.h"

namespace muster {
namespace {

constexpr std::size_t kExamples = 5;

// Keeps the submit and end second of the jobs that golden values are about.
class JobTimes final : public Observer {
 public:
  explicit JobTimes(const std::vector<GoldenJob>& golden) {
    if (golden.empty()) return;
    first_ = golden.front().id;
    times_.resize(static_cast<std::size_t>(golden.back().id - first_) + 1);
  }
  void on_job_end(const JobRecord& job) override {
    const auto id = static_cast<long long>(index(job.id));
    if (id < first_ || id - first_ >= static_cast<long long>(times_.size())) return;
    times_[static_cast<std::size_t>(id - first_)] = {id, job.submit, job.end};
  }
  void on_turn(const TurnStats& turn) override { stops_ += turn.stops; }

  double stops() const { return static_cast<double>(stops_); }
  const std::optional<GoldenJob>& of(long long id) const {
    return times_[static_cast<std::size_t>(id - first_)];
  }

 private:
  long long first_ = 0;
  long long stops_ = 0;
  std::vector<std::optional<GoldenJob>> times_;
};

std::string span_text(const GoldenJob& job) {
  return fmt::format("{} to {}", exact_text(job.submit), exact_text(job.end));
}

void compare_jobs(const std::vector<GoldenJob>& golden, const JobTimes& times, JobsCheck& check) {
  check.compared = true;
  check.jobs = golden.size();
  for (const GoldenJob& theirs : golden) {
    const std::optional<GoldenJob>& ours = times.of(theirs.id);
    if (ours && ours->submit == theirs.submit && ours->end == theirs.end) continue;
    ++check.unequal;
    if (check.examples.size() == kExamples) continue;
    check.examples.push_back(fmt::format("job {}: ours {}, artifact {}", theirs.id,
                                         ours ? span_text(*ours) : "never ended",
                                         span_text(theirs)));
  }
}

FigureCheck compare_figure(const Experiment& experiment, const ExpectedFigure& expected,
                           const RunSummary& summary, double stops) {
  FigureCheck check;
  check.expected = expected;
  const MetricInfo* info = find_metric(expected.key);
  check.ours = info == nullptr ? stops : summary.metrics.*info->field;
  if (const auto add = experiment.adjust.find(expected.key); add != experiment.adjust.end()) {
    check.ours += add->second;
  }
  const double reference = std::isnan(expected.artifact) ? expected.published : expected.artifact;
  check.difference = check.ours - reference;
  const double allowed = experiment.absolute + experiment.relative * std::abs(reference);
  check.within = std::abs(check.difference) <= allowed;
  return check;
}

Result<std::optional<RunCheck>> check_run(const Experiment& experiment, const ExperimentRun& run,
                                          const ExperimentOptions& options) {
  RunCheck check;
  check.run = run.name;
  check.missing = run.missing;
  if (!run.missing.empty()) return std::optional<RunCheck>(std::move(check));
  std::vector<GoldenJob> golden;
  if (!run.golden.empty()) {
    if (const auto path = find_reference_file(run.golden); path) {
      auto read = read_golden(*path, run.where);
      if (!read) return read.error();
      golden = std::move(*read);
    } else {
      check.jobs.unavailable = path.error().message;
    }
  }
  JobTimes times(golden);
  const auto summary = measure_run(run.config, nullptr, options.keep_going, &times);
  if (!summary) return Error{fmt::format("run '{}': {}", run.name, summary.error().message)};
  if (!*summary) return std::optional<RunCheck>();
  for (const ExpectedFigure& expected : run.expected) {
    check.figures.push_back(compare_figure(experiment, expected, **summary, times.stops()));
  }
  if (!golden.empty()) compare_jobs(golden, times, check.jobs);
  return std::optional<RunCheck>(std::move(check));
}

}  // namespace

bool RunCheck::within() const {
  return jobs.unequal == 0 && std::all_of(figures.begin(), figures.end(),
                                          [](const FigureCheck& one) { return one.within; });
}

bool ExperimentResult::within() const {
  return std::all_of(runs.begin(), runs.end(), [](const RunCheck& one) { return one.within(); });
}

Result<ExperimentResult> run_experiment(const Experiment& experiment,
                                        const ExperimentOptions& options) {
  std::vector<std::optional<RunCheck>> checks(experiment.runs.size());
  std::mutex mutex;
  std::optional<Error> error;
  ProgressTask* task =
      options.progress == nullptr
          ? nullptr
          : &options.progress->task(fmt::format("{} {}", experiment.system, experiment.name),
                                    experiment.runs.size());
  in_parallel(experiment.runs.size(), options.threads, [&](std::size_t i) {
    auto check = check_run(experiment, experiment.runs[i], options);
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
  for (std::optional<RunCheck>& check : checks) {
    if (check) {
      result.runs.push_back(std::move(*check));
    } else {
      result.complete = false;
    }
  }
  return result;
}

}  // namespace muster
