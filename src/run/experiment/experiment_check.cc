#include "run/experiment/experiment_check.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"

namespace muster {
namespace {

constexpr std::size_t kExamples = 5;

// What is compared, of a job of ours or of theirs.
std::string span_text(const GoldenJob& job, const GoldenSource& source) {
  if (!source.jct.empty()) return fmt::format("completed in {} s", exact_text(job.jct));
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
  return (source.end.empty() || same(ours.end, theirs.end)) &&
         (source.jct.empty() || same(ours.jct, theirs.jct)) &&
         (source.submit.empty() || same(ours.submit, theirs.submit)) &&
         (source.start.empty() || same(ours.start, theirs.start)) &&
         (source.preempted.empty() || ours.preempted == theirs.preempted);
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
  if (!std::isnan(expected.least)) {
    return fmt::format("{:g} to {:g}", expected.least, expected.most);
  }
  if (listed(experiment.at_most, expected.key)) return "at most";
  if (listed(experiment.at_least, expected.key)) return "at least";
  std::string rule;
  const auto add = [&rule](const std::string& part) { rule += (rule.empty() ? "" : " + ") + part; };
  if (experiment.relative > 0) add(fmt::format("{:g} %", 100 * experiment.relative));
  if (experiment.absolute > 0) add(fmt::format("{:g}", experiment.absolute));
  if (experiment.deviations > 0) add(fmt::format("{:g} sd", experiment.deviations));
  return rule.empty() ? "equal" : rule;
}

}  // namespace

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

FigureCheck compare_figure(const Experiment& experiment, const ExperimentRun& run,
                           const ExpectedFigure& expected, double ours, double deviation) {
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

}  // namespace muster
