#include "workload/generate/fit.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

namespace muster {
namespace {

constexpr std::size_t kEnoughJobs = 50;  // fewer of a size say little about its durations
constexpr Seconds kFitHour = 3600;

// Jobs per hour of the week, by the time the trace spent in that hour, as factors of the mean.
WeekProfile week_of(const std::vector<Seconds>& submits) {
  WeekProfile counts{};
  WeekProfile hours{};
  const double span = (submits.back() - submits.front()) / kFitHour;
  for (const Seconds submit : submits) {
    const auto hour = static_cast<std::size_t>((submit - submits.front()) / kFitHour);
    counts[hour % counts.size()] += 1;
  }
  for (std::size_t hour = 0; static_cast<double>(hour) < span; ++hour) {
    hours[hour % hours.size()] += std::min(1.0, span - static_cast<double>(hour));
  }
  WeekProfile factors{};
  const double mean = static_cast<double>(submits.size()) / span;
  double sum = 0;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    factors[i] = hours[i] > 0 ? counts[i] / hours[i] / mean : 1;
    sum += factors[i];
  }
  for (double& factor : factors) factor *= static_cast<double>(factors.size()) / sum;
  return factors;
}

void add_gaps(const std::vector<Seconds>& submits, TraceFit& fit) {
  double sum = 0;
  double squares = 0;
  fit.gaps.reserve(submits.size() - 1);
  for (std::size_t i = 1; i < submits.size(); ++i) {
    const double gap = submits[i] - submits[i - 1];
    fit.gaps.push_back(gap);
    sum += gap;
    squares += gap * gap;
  }
  const auto count = static_cast<double>(fit.gaps.size());
  const double mean = sum / count;
  fit.gap_variation = std::sqrt(std::max(0.0, squares / count - mean * mean)) / mean;
  fit.span = sum;
  fit.jobs_per_hour = kFitHour / mean;
}

void add_sizes(TraceFit& fit) {
  std::vector<double> durations;
  durations.reserve(fit.rows.size());
  std::map<int, std::vector<double>> by_size;
  for (const TraceRow& row : fit.rows) {
    durations.push_back(row.duration);
    by_size[row.gpus].push_back(row.duration);
  }
  fit.all = {0, durations.size(), fit_durations(std::move(durations))};
  for (auto& [gpus, list] : by_size) {
    const std::size_t jobs = list.size();
    if (jobs >= kEnoughJobs) fit.sizes.push_back({gpus, jobs, fit_durations(std::move(list))});
  }
}

}  // namespace

const SizeFit& TraceFit::of_size(int gpus) const {
  for (const SizeFit& size : sizes) {
    if (size.gpus == gpus) return size;
  }
  return all;
}

Result<TraceFit> fit_trace(JobSource& source) {
  TraceFit fit;
  std::vector<Seconds> submits;
  for (const JobSpec* job = source.peek(); job != nullptr; job = source.peek()) {
    submits.push_back(job->submit);
    if (job->duration > 0 && std::isfinite(job->duration)) {
      fit.rows.push_back({job->duration, job->gpus, job->user, job->partition, job->model});
    } else {
      ++fit.left_out;
    }
    source.pop();
  }
  if (source.error()) return *source.error();
  std::sort(submits.begin(), submits.end());
  if (submits.size() < 2 || submits.front() == submits.back()) {
    return Error{
        fmt::format("a fit needs at least two jobs, submitted at different times; found {} job{}",
                    submits.size(), submits.size() == 1 ? "" : "s")};
  }
  if (fit.rows.empty()) return Error{"a fit needs jobs with durations above 0; found none"};
  add_gaps(submits, fit);
  fit.week = week_of(submits);
  add_sizes(fit);
  return fit;
}

std::string fit_text(const TraceFit& fit) {
  std::string text = fmt::format(
      "{} jobs over {:.1f} days: {:.3f} per hour, gaps vary {:.2f} times as much as Poisson's\n",
      fit.gaps.size() + 1, fit.span / 86400, fit.jobs_per_hour, fit.gap_variation);
  if (fit.left_out > 0)
    text += fmt::format("{} jobs without a duration were left out\n", fit.left_out);
  text += fmt::format("{:>5} {:>9} {:>7}  {:<44} {:>8} {:>14}\n", "gpus", "jobs", "share",
                      "durations (s)", "distance", "log-likelihood");
  const auto add = [&](const SizeFit& size) {
    const double share = static_cast<double>(size.jobs) / static_cast<double>(fit.rows.size());
    bool first = true;
    for (const FittedFamily& family : size.families) {
      const std::string lead = first
                                   ? fmt::format("{:>5} {:>9} {:>6.2f}%",
                                                 size.gpus == 0 ? "all" : std::to_string(size.gpus),
                                                 size.jobs, share * 100)
                                   : std::string(23, ' ');
      text += fmt::format("{}  {:<44} {:>8.4f} {:>14.1f}\n", lead, family.distribution.text(),
                          family.distance, family.log_likelihood);
      first = false;
    }
  };
  add(fit.all);
  for (const SizeFit& size : fit.sizes) add(size);
  return text;
}

}  // namespace muster
