#include "learn/estimate.h"

#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "learn/calendar.h"

namespace muster {

std::vector<std::string> estimate_feature_names(bool with_profile) {
  std::vector<std::string> names = {"job_number", "user", "vc",   "gpu_num",  "cpu_num",
                                    "month",      "day",  "hour", "dayofweek"};
  if (with_profile) names.insert(names.end(), {"amp", "gpu_util", "gmem_util", "gmem"});
  return names;
}

// What is not known of a job is a missing value, which has a bin of its own (learn/bins.h), never a
// guess: the model learns what a missing number of CPUs or a missing profile means.
Examples estimate_examples(std::span<const JobSpec> jobs, const Symbols& symbols,
                           const PerfModel* perf, const EstimateOptions& options,
                           std::size_t first_number) {
  std::map<std::string, std::vector<double>> numbers;
  std::vector<std::string> users;
  std::vector<std::string> partitions;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const JobSpec& job = jobs[i];
    users.push_back(symbols.text(job.user));
    partitions.push_back(symbols.text(job.partition));
    const CalendarTime time = calendar_time(options.epoch + static_cast<std::int64_t>(job.submit));
    numbers["job_number"].push_back(static_cast<double>(first_number + i));
    numbers["gpu_num"].push_back(job.gpus);
    numbers["cpu_num"].push_back(job.cpus > 0 ? job.cpus : kMissingNumber);
    numbers["month"].push_back(time.month);
    numbers["day"].push_back(time.day);
    numbers["hour"].push_back(time.hour);
    numbers["dayofweek"].push_back(time.day_of_week);
    numbers["duration"].push_back(job.duration);
    if (!options.with_profile) continue;
    const WorkloadProfile* profile = perf != nullptr ? profile_of(*perf, job.model) : nullptr;
    const bool known = profile != nullptr;
    numbers["amp"].push_back(known ? (profile->mixed_precision ? 1 : 0) : kMissingNumber);
    numbers["gpu_util"].push_back(known ? profile->gpu_util : kMissingNumber);
    numbers["gmem_util"].push_back(known ? profile->memory_util : kMissingNumber);
    numbers["gmem"].push_back(known ? profile->memory_mb : kMissingNumber);
  }
  Examples table;
  table.add_texts("user", std::move(users));
  table.add_texts("vc", std::move(partitions));
  for (auto& [name, values] : numbers) table.add_numbers(name, std::move(values));
  table.rows = jobs.size();
  return table;
}

// Least squares on seconds. What is not text is a number to the model, also the number of the job:
// with it the model can follow a drift.
Result<Ebm> train_estimate(std::span<const JobSpec> history, const Symbols& symbols,
                           const PerfModel* perf, const EstimateOptions& options) {
  if (history.size() < kFewestRows) {
    return Error{fmt::format("{} jobs of history; an estimate needs at least {}", history.size(),
                             kFewestRows)};
  }
  const Examples table = estimate_examples(history, symbols, perf, options);
  const auto features =
      FeatureSet::of(table, estimate_feature_names(options.with_profile), "history");
  if (!features) return features.error();
  const auto columns = features->encode(table, "history");
  if (!columns) return columns.error();
  auto model = train_ebm(*features, *columns, table.find("duration")->numbers, options.ebm);
  if (model) model->target = "duration";
  return model;
}

// Rolling-origin evaluation: each week is estimated by a model of all weeks before it, never by one
// that has seen the week itself. One training per week, so time is quadratic in the number of
// weeks.
Result<std::vector<double>> weekly_estimates(std::span<const JobSpec> history,
                                             std::span<const JobSpec> jobs, const Symbols& symbols,
                                             const PerfModel* perf,
                                             const EstimateOptions& options) {
  std::vector<double> estimates;
  std::vector<JobSpec> known(history.begin(), history.end());
  std::size_t next = 0;
  while (next < jobs.size()) {
    const auto model = train_estimate(known, symbols, perf, options);
    if (!model) return model.error();
    // A period begins with its first job, so quiet weeks cost no training.
    const Seconds until = jobs[next].submit + options.retrain_every;
    std::size_t end = next;
    while (end < jobs.size() && jobs[end].submit < until) ++end;
    const auto week = jobs.subspan(next, end - next);
    const Examples table = estimate_examples(week, symbols, perf, options, known.size());
    const auto columns = model->features.encode(table, "jobs");
    if (!columns) return columns.error();
    std::vector<double> row(columns->size());
    for (std::size_t i = 0; i < week.size(); ++i) {
      for (std::size_t f = 0; f < row.size(); ++f) row[f] = (*columns)[f][i];
      // A sum of effects can be negative; no job runs for less than the floor.
      estimates.push_back(std::max(options.floor, model->predict(row)));
    }
    known.insert(known.end(), week.begin(), week.end());
    next = end;
  }
  return estimates;
}

// Levenshtein distance by dynamic programming (Wagner and Fischer, 1974), with one row of the
// table: O(|a| |b|) time, O(|b|) memory.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0U);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t corner = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      // Invariant: after row i, row[j] is the distance of a's first i characters from b's first j.
      const std::size_t replace = corner + (a[i - 1] == b[j - 1] ? 0 : 1);
      corner = row[j];
      row[j] = std::min({replace, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

// Leader clustering: names in order of frequency; the most frequent ones lead clusters of their
// own, each other one joins the first leader that is near enough, or leads a new cluster. O(names x
// leaders) distances; only names with the same first letter are compared.
std::vector<std::string> cluster_names(const std::vector<std::string>& names, std::size_t keep,
                                       double distance) {
  std::map<std::string, std::size_t> count;
  for (const std::string& name : names) ++count[name];
  std::vector<std::string> order;
  order.reserve(count.size());
  for (const auto& [name, times] : count) order.push_back(name);
  std::stable_sort(order.begin(), order.end(),
                   [&](const std::string& a, const std::string& b) { return count[a] > count[b]; });
  std::map<std::string, std::string> cluster;
  std::vector<std::string> heads;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::string& name = order[i];
    std::string head;
    for (std::size_t h = 0; i >= keep && h < heads.size() && head.empty(); ++h) {
      const std::string& other = heads[h];
      if (name.empty() || other.empty() || other.front() != name.front()) continue;
      const auto longer = static_cast<double>(std::max(name.size(), other.size()));
      if (static_cast<double>(edit_distance(name, other)) <= distance * longer) head = other;
    }
    if (head.empty()) {
      heads.push_back(name);
      head = name;
    }
    cluster[name] = head;
  }
  std::vector<std::string> clustered;
  clustered.reserve(names.size());
  for (const std::string& name : names) clustered.push_back(cluster[name]);
  return clustered;
}

}  // namespace muster
