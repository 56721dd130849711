#include "learn/history_estimate.h"

#include <algorithm>
#include <queue>

#include <fmt/format.h>

#include "learn/calendar.h"
#include "learn/ebm.h"
#include "learn/estimate.h"

namespace muster {
namespace {

constexpr double kAlike = 0.6;
constexpr std::size_t kNearest = 2;

// The longest block that both have, the first of equals.
struct Block {
  std::size_t a = 0;
  std::size_t b = 0;
  std::size_t length = 0;
};

// Dynamic programming over the lengths of common suffixes: O(|a| |b|) time, O(|b|) memory.
Block longest_block(std::string_view a, std::string_view b) {
  Block best;
  std::vector<std::size_t> before(b.size() + 1, 0);
  std::vector<std::size_t> here(b.size() + 1, 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j) {
      here[j + 1] = a[i] == b[j] ? before[j] + 1 : 0;
      if (here[j + 1] > best.length) {
        best = {i + 1 - here[j + 1], j + 1 - here[j + 1], here[j + 1]};
      }
    }
    std::swap(before, here);
  }
  return best;
}

// Characters in matching blocks: the longest one, and what matches on either side of it. Cubic at
// worst, where every block has one character; names share long blocks as a rule.
std::size_t matching(std::string_view a, std::string_view b) {
  const Block block = longest_block(a, b);
  if (block.length == 0) return 0;
  return block.length + matching(a.substr(0, block.a), b.substr(0, block.b)) +
         matching(a.substr(block.a + block.length), b.substr(block.b + block.length));
}

std::vector<std::string> names_of(std::span<const JobSpec> jobs, const Symbols& symbols) {
  std::vector<std::string> names;
  for (const JobSpec& job : jobs) names.push_back(symbols.text(job.model));
  return names;
}

// What is known of jobs when they are submitted. Dates are split into fields, in which trees find
// what repeats by the hour or by the day of the week.
Examples submission_examples(std::span<const JobSpec> jobs, const Symbols& symbols,
                             const std::vector<std::string>& clusters, std::int64_t epoch) {
  std::map<std::string, std::vector<double>> numbers;
  std::vector<std::string> users;
  std::vector<std::string> partitions;
  for (const JobSpec& job : jobs) {
    users.push_back(symbols.text(job.user));
    partitions.push_back(symbols.text(job.partition));
    const CalendarTime time = calendar_time(epoch + static_cast<std::int64_t>(job.submit));
    numbers["gpu_num"].push_back(job.gpus);
    numbers["cpu_num"].push_back(job.cpus > 0 ? job.cpus : kMissingNumber);
    numbers["month"].push_back(time.month);
    numbers["day"].push_back(time.day);
    numbers["dayofweek"].push_back(time.day_of_week);
    numbers["hour"].push_back(time.hour);
    numbers["minute"].push_back(time.minute);
    numbers["duration"].push_back(job.duration);
  }
  Examples table;
  table.add_texts("user", std::move(users));
  table.add_texts("vc", std::move(partitions));
  table.add_texts("name", clusters);
  for (auto& [name, values] : numbers) table.add_numbers(name, std::move(values));
  table.rows = jobs.size();
  return table;
}

// Nothing may be learnt from the future: a job becomes history only once it could have ended.
// Jobs that have been submitted and have not ended yet, by when they could.
class Running {
 public:
  void add(const JobSpec& job, const std::string& name) {
    jobs_.push({job.submit + job.duration, &job, name});
  }
  void move_ended(Seconds now, HistoryEstimator& history) {
    for (; !jobs_.empty() && jobs_.top().end <= now; jobs_.pop()) {
      const Entry& top = jobs_.top();
      history.add(top.name, top.job->user, top.job->gpus, top.job->duration);
    }
  }

 private:
  struct Entry {
    Seconds end;
    const JobSpec* job;
    std::string name;
    friend bool operator>(const Entry& a, const Entry& b) { return a.end > b.end; }
  };
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> jobs_;
};

}  // namespace

double name_similarity(std::string_view a, std::string_view b) {
  if (a.empty() && b.empty()) return 1;
  return 2.0 * static_cast<double>(matching(a, b)) / static_cast<double>(a.size() + b.size());
}

// Sums and counts only, so a job costs O(log names) and its record need not be kept. A name that is
// new may be the nearest of any other, so all remembered answers are dropped.
void HistoryEstimator::add(std::string_view name, Symbol user, int gpus, Seconds duration) {
  auto place = names_.find(name);
  if (place == names_.end()) {
    place = names_.emplace(std::string(name), Mean{}).first;
    found_.clear();
  }
  place->second.add(duration);
  users_[user].add(duration);
  OfUser& mine = of_user_[{user, std::string(name)}];
  mine.all.add(duration);
  mine.by_gpus[gpus].add(duration);
  all_.add(duration);
}

// k nearest names by similarity, k = 2, found by comparing with all; remembered until a name is
// new.
std::vector<std::string> HistoryEstimator::nearest(std::string_view name) const {
  if (const auto known = found_.find(name); known != found_.end()) return known->second;
  std::vector<std::pair<double, std::string>> alike;
  for (const auto& [other, mean] : names_) {
    const double similarity = name_similarity(other, name);
    if (similarity >= kAlike) alike.emplace_back(similarity, other);
  }
  std::sort(alike.begin(), alike.end(), std::greater<>());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(kNearest, alike.size()); ++i) {
    names.push_back(alike[i].second);
  }
  // The name itself is known, so no similar one is needed.
  if (!names.empty() && names.front() == name) names.resize(1);
  found_.emplace(std::string(name), names);
  return names;
}

// From the most to the least specific sample that has any job: same user, similar name and GPU
// count; same user and similar name; similar name; same user; all jobs.
HistoryEstimator::Answer HistoryEstimator::estimate(std::string_view name, Symbol user,
                                                    int gpus) const {
  Mean same_size;
  Mean mine;
  Mean anyone;
  for (const std::string& near : nearest(name)) {
    anyone.add(names_.find(near)->second);
    const auto found = of_user_.find({user, near});
    if (found == of_user_.end()) continue;
    mine.add(found->second.all);
    const auto sized = found->second.by_gpus.find(gpus);
    if (sized != found->second.by_gpus.end()) same_size.add(sized->second);
  }
  if (same_size.count > 0) return {same_size.value(), false};
  if (mine.count > 0) return {mine.value(), false};
  if (anyone.count > 0) return {anyone.value(), false};
  const auto owner = users_.find(user);
  if (owner != users_.end()) return {owner->second.value(), true};
  return {all_.count > 0 ? all_.value() : 0, true};
}

double blend_estimates(double from_history, double from_trees) {
  // A convex combination of two estimators, with Helios' weights.
  return from_trees > 0 ? 0.1 * from_history + 0.9 * from_trees : from_history;
}

// Rolling-origin evaluation: for each period the trees are trained on what was submitted before it,
// names are clustered anew, and the answers blended with the history as of each submission. Time:
// one training per period on all jobs before it, so quadratic in the number of periods.
Result<std::vector<double>> history_estimates(std::span<const JobSpec> history,
                                              std::span<const JobSpec> jobs, const Symbols& symbols,
                                              const HistoryOptions& options) {
  if (history.size() < kFewestRows) {
    return Error{fmt::format("{} jobs of history; an estimate needs at least {}", history.size(),
                             kFewestRows)};
  }
  std::vector<JobSpec> all(history.begin(), history.end());
  all.insert(all.end(), jobs.begin(), jobs.end());
  const std::vector<std::string> names = names_of(all, symbols);
  HistoryEstimator past;
  Running running;
  for (std::size_t i = 0; i < history.size(); ++i) running.add(all[i], names[i]);

  const std::vector<std::string> features = {"user",  "vc",  "name",      "gpu_num", "cpu_num",
                                             "month", "day", "dayofweek", "hour",    "minute"};
  std::vector<double> estimates;
  std::size_t next = history.size();
  while (next < all.size()) {
    const Seconds until = all[next].submit + options.retrain_every;
    std::size_t end = next;
    while (end < all.size() && all[end].submit < until) ++end;
    const std::vector<std::string> clusters =
        cluster_names({names.begin(), names.begin() + static_cast<std::ptrdiff_t>(end)},
                      options.names_kept, options.name_distance);
    const Examples table =
        submission_examples(std::span(all).first(end), symbols, clusters, options.epoch);
    std::vector<std::size_t> before(next);
    for (std::size_t i = 0; i < next; ++i) before[i] = i;
    std::vector<std::size_t> week(end - next);
    for (std::size_t i = 0; i < week.size(); ++i) week[i] = next + i;
    const Examples known = take_rows(table, before);
    const auto set = FeatureSet::of(known, features, "history");
    if (!set) return set.error();
    const auto columns = set->encode(known, "history");
    if (!columns) return columns.error();
    const auto model = train_boosted_trees(*set, *columns, known.find("duration")->numbers,
                                           "duration", options.trees);
    if (!model) return model.error();
    const auto asked = set->encode(take_rows(table, week), "jobs");
    if (!asked) return asked.error();
    const auto answers = (*model)->predict(*asked);
    if (!answers) return answers.error();
    for (std::size_t i = next; i < end; ++i) {
      // The history is as of this submission: only jobs that ended before it count.
      running.move_ended(all[i].submit, past);
      const Seconds before_it = past.estimate(names[i], all[i].user, all[i].gpus).seconds;
      estimates.push_back(
          std::max(options.floor, blend_estimates(before_it, (*answers)[i - next])));
      running.add(all[i], names[i]);
    }
    next = end;
  }
  return estimates;
}

}  // namespace muster
