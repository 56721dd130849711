#include "cli/trace_info.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "report/json.h"
#include "report/table.h"
#include "report/units.h"
#include "workload/timestamp.h"

namespace muster {
namespace {

constexpr double kHour = 3600;

struct QuantileRow {
  const char* key;
  const char* label;
  double fraction;
};
constexpr std::array<QuantileRow, 7> kQuantiles = {{{"p5_s", "5 %", 0.05},
                                                    {"p25_s", "25 %", 0.25},
                                                    {"p50_s", "median", 0.5},
                                                    {"p75_s", "75 %", 0.75},
                                                    {"p90_s", "90 %", 0.9},
                                                    {"p99_s", "99 %", 0.99},
                                                    {"p999_s", "99.9 %", 0.999}}};

std::string time_text(Seconds time) {
  return time >= kWallClock ? timestamp_text(time) : duration_text(time);
}

// The groups with most GPU time first; equal ones by name.
template <typename Group>
std::vector<std::pair<std::string, const Group*>> ranked(const std::map<Symbol, Group>& groups,
                                                         const Symbols& symbols) {
  std::vector<std::pair<std::string, const Group*>> rows;
  rows.reserve(groups.size());
  for (const auto& [symbol, group] : groups) {
    rows.emplace_back(symbol == kNoSymbol ? "(none)" : symbols.text(symbol), &group);
  }
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    const double x = a.second->gpu_seconds.value();
    const double y = b.second->gpu_seconds.value();
    return x != y ? x > y : a.first < b.first;
  });
  return rows;
}

void append_fate(const RecordedFate& fate, JsonWriter& json) {
  json.key("as_it_was").begin_object();
  json.member("jobs", static_cast<double>(fate.jobs)).member("avg_queue_s", fate.mean_wait());
  json.member("avg_jct_s", fate.mean_completion()).member("makespan_s", fate.makespan());
  json.end_object();
}

}  // namespace

void TraceInfo::add(const JobSpec& job) {
  ++jobs_;
  if (job.submit < previous_submit_) ++unsorted_;
  previous_submit_ = job.submit;
  first_submit_ = std::min(first_submit_, job.submit);
  last_submit_ = std::max(last_submit_, job.submit);
  if (job.deadline != kNever) ++with_deadline_;
  if (job.elastic()) ++elastic_;
  const double gpu_seconds = job.duration * job.gpus;
  gpu_seconds_.add(gpu_seconds);
  durations_.add(job.duration);
  for (Group* group : {&by_gpus_[job.gpus], &by_partition_[job.partition], &by_user_[job.user],
                       &by_model_[job.model]}) {
    ++group->jobs;
    group->gpu_seconds.add(gpu_seconds);
  }
}

double TraceInfo::load_on(const ClusterSpec& cluster) const {
  return span() > 0 ? gpu_seconds_.value() / (span() * cluster.total_gpus())
                    : std::numeric_limits<double>::quiet_NaN();
}

std::string TraceInfo::text(const std::string& name, const TraceStats& stats,
                            const Symbols& symbols, const ClusterSpec* cluster,
                            const std::string& cluster_name) const {
  std::string out = fmt::format("{}: {} jobs in {} records of the format {}\n", name,
                                count_text(static_cast<double>(jobs_)),
                                count_text(static_cast<double>(stats.records)), stats.format);
  for (const auto& [reason, count] : stats.skipped) {
    out += fmt::format("  {} skipped: {}\n", count_text(static_cast<double>(count)), reason);
  }
  if (stats.bad > 0) out += fmt::format("  {} bad\n", count_text(static_cast<double>(stats.bad)));
  for (const auto& [status, count] : stats.statuses) {
    out += fmt::format("  {} ended as {}\n", count_text(static_cast<double>(count)), status);
  }
  if (jobs_ == 0) return out;
  out += fmt::format("\nsubmitted   over {}, from {} to {}{}\n", duration_text(span()),
                     time_text(first_submit_), time_text(last_submit_),
                     unsorted_ > 0 ? "; not in order" : "");
  out += fmt::format("GPU time    {} GPU hours\n",
                     number_text(gpu_seconds_.value() / kHour, Unit::kGpuHours));
  if (cluster != nullptr) {
    out += fmt::format("load        {} on {} ({} GPUs)\n",
                       number_text(load_on(*cluster), Unit::kRatio), cluster_name,
                       count_text(cluster->total_gpus()));
  }
  if (const RecordedFate& fate = stats.fate; fate.jobs > 0) {
    out += fmt::format("as it was   waited {}, completed in {} (means of {} jobs); makespan {}\n",
                       duration_text(fate.mean_wait()), duration_text(fate.mean_completion()),
                       count_text(static_cast<double>(fate.jobs)), duration_text(fate.makespan()));
  }
  if (with_deadline_ > 0) {
    out += fmt::format("deadlines   {} jobs\n", count_text(static_cast<double>(with_deadline_)));
  }
  if (elastic_ > 0)
    out += fmt::format("elastic     {} jobs\n", count_text(static_cast<double>(elastic_)));
  return out + duration_table() + group_tables(symbols);
}

std::string TraceInfo::duration_table() const {
  std::string out = fmt::format("\nduration    mean {}\n", duration_text(durations_.mean()));
  Table durations({{"least", "least", Unit::kSeconds, Better::kNeither},
                   {"p5_s", kQuantiles[0].label, Unit::kSeconds, Better::kNeither},
                   {"p25_s", kQuantiles[1].label, Unit::kSeconds, Better::kNeither},
                   {"p50_s", kQuantiles[2].label, Unit::kSeconds, Better::kNeither},
                   {"p75_s", kQuantiles[3].label, Unit::kSeconds, Better::kNeither},
                   {"p90_s", kQuantiles[4].label, Unit::kSeconds, Better::kNeither},
                   {"p99_s", kQuantiles[5].label, Unit::kSeconds, Better::kNeither},
                   {"p999_s", kQuantiles[6].label, Unit::kSeconds, Better::kNeither},
                   {"greatest", "greatest", Unit::kSeconds, Better::kNeither}});
  std::vector<Cell> cells = {durations_.least()};
  for (const QuantileRow& row : kQuantiles) cells.emplace_back(durations_.at(row.fraction));
  cells.emplace_back(durations_.greatest());
  durations.add_row(std::move(cells));
  return out + durations.text({});
}

std::string TraceInfo::group_tables(const Symbols& symbols) const {
  const auto shares = [this](const Group& group) {
    return std::vector<Cell>{static_cast<double>(group.jobs),
                             static_cast<double>(group.jobs) / static_cast<double>(jobs_),
                             group.gpu_seconds.value() / kHour};
  };
  const auto columns = [](const char* label) {
    return std::vector<Column>{{"key", label, Unit::kCount, Better::kNeither},
                               {"jobs", "jobs", Unit::kCount, Better::kNeither},
                               {"share", "of all", Unit::kRatio, Better::kNeither},
                               {"gpu_hours", "GPU hours", Unit::kGpuHours, Better::kNeither}};
  };
  std::string out = "\n";
  Table sizes(columns("GPUs"));
  for (const auto& [gpus, group] : by_gpus_) {
    std::vector<Cell> row = shares(group);
    row.insert(row.begin(), Cell(static_cast<double>(gpus)));
    sizes.add_row(std::move(row));
  }
  out += sizes.text({});
  for (const auto& [label, groups] :
       {std::pair("partition", &by_partition_), std::pair("user", &by_user_),
        std::pair("model", &by_model_)}) {
    if (groups->size() == 1 && groups->begin()->first == kNoSymbol) continue;
    constexpr std::size_t kMost = 10;
    Table table(columns(label));
    const auto rows = ranked(*groups, symbols);
    for (std::size_t i = 0; i < std::min(rows.size(), kMost); ++i) {
      std::vector<Cell> row = shares(*rows[i].second);
      row.insert(row.begin(), Cell(rows[i].first));
      table.add_row(std::move(row));
    }
    out += '\n' + table.text({});
    if (rows.size() > kMost) out += fmt::format("... and {} more\n", rows.size() - kMost);
  }
  return out;
}

std::string TraceInfo::json(const std::string& name, const TraceStats& stats,
                            const Symbols& symbols, const ClusterSpec* cluster) const {
  JsonWriter json(2);
  json.begin_object();
  json.member("trace", name).member("format", stats.format);
  json.member("records", static_cast<double>(stats.records))
      .member("jobs", static_cast<double>(jobs_));
  json.member("bad", static_cast<double>(stats.bad));
  const auto counts = [&json](std::string_view key,
                              const std::map<std::string, std::uint64_t, std::less<>>& map) {
    json.key(key).begin_object();
    for (const auto& [text, count] : map) json.member(text, static_cast<double>(count));
    json.end_object();
  };
  counts("skipped", stats.skipped);
  counts("statuses", stats.statuses);
  json.member("sorted", unsorted_ == 0);
  json.member("first_submit_s", first_submit_)
      .member("last_submit_s", last_submit_)
      .member("span_s", span());
  json.member("gpu_hours", gpu_seconds_.value() / kHour);
  json.member("with_deadline", static_cast<double>(with_deadline_))
      .member("elastic", static_cast<double>(elastic_));
  if (cluster != nullptr) {
    json.member("cluster_gpus", static_cast<double>(cluster->total_gpus()))
        .member("load", load_on(*cluster));
  }
  if (stats.fate.jobs > 0) append_fate(stats.fate, json);
  json.key("duration").begin_object();
  json.member("mean_s", durations_.mean()).member("least_s", durations_.least());
  for (const QuantileRow& row : kQuantiles) json.member(row.key, durations_.at(row.fraction));
  json.member("greatest_s", durations_.greatest()).end_object();
  json.key("gpus").begin_array();
  for (const auto& [gpus, group] : by_gpus_) {
    json.begin_object()
        .member("gpus", static_cast<double>(gpus))
        .member("jobs", static_cast<double>(group.jobs));
    json.member("gpu_hours", group.gpu_seconds.value() / kHour).end_object();
  }
  json.end_array();
  for (const auto& [key, groups] :
       {std::pair("partitions", &by_partition_), std::pair("users", &by_user_),
        std::pair("models", &by_model_)}) {
    json.key(key).begin_array();
    for (const auto& [text, group] : ranked(*groups, symbols)) {
      if (groups->size() == 1 && groups->begin()->first == kNoSymbol) continue;
      json.begin_object().member("name", text).member("jobs", static_cast<double>(group->jobs));
      json.member("gpu_hours", group->gpu_seconds.value() / kHour).end_object();
    }
    json.end_array();
  }
  json.key("notes").begin_array();
  for (const std::string& note : stats.notes) json.value(note);
  json.end_array().end_object();
  return json.take() + "\n";
}

}  // namespace muster
