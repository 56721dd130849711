// The figures of a run, and one list that describes them: key, label, unit, which way is good, a
// sentence. summary.json, the tables, the HTML report and docs/results.md all follow this list.
#pragma once

#include <limits>
#include <span>
#include <string_view>

#include "report/units.h"

namespace muster {

inline constexpr double kNoFigure = std::numeric_limits<double>::quiet_NaN();

// Every figure is a double, counts included (exact far beyond any job count). NaN: there is none,
// e.g. the average completion time of a run in which nothing finished.
struct Metrics {
  double jobs = 0;
  double finished = 0;
  double refused = 0;
  double failed = 0;
  double cancelled = 0;
  double unfinished = 0;
  double avg_jct_s = kNoFigure;
  double p50_jct_s = kNoFigure;
  double p90_jct_s = kNoFigure;
  double p99_jct_s = kNoFigure;
  double max_jct_s = kNoFigure;
  double makespan_s = kNoFigure;
  double avg_queue_s = kNoFigure;
  double p50_queue_s = kNoFigure;
  double p99_queue_s = kNoFigure;
  double p999_queue_s = kNoFigure;
  double avg_responsiveness_s = kNoFigure;
  double p99_responsiveness_s = kNoFigure;
  double utilization = kNoFigure;
  double busy_utilization = kNoFigure;
  double preemptions = 0;
  double restarts = 0;
  double resizes = 0;
  double gpu_hours = 0;
  double powered_gpu_hours = kNoFigure;
  double cost_usd = kNoFigure;
  double job_cost_usd = kNoFigure;
  double lost_work_s = 0;
  double overhead_s = 0;
  double avg_slowdown = kNoFigure;
  double p99_slowdown = kNoFigure;
  double avg_bounded_slowdown = kNoFigure;
  double deadline_jobs = 0;
  double deadline_met_ratio = kNoFigure;
  double late_jobs = 0;
  double avg_lateness_s = kNoFigure;
  double value_ratio = kNoFigure;
  double best_effort_avg_jct_s = kNoFigure;
  double fairness_jain = kNoFigure;
  double avg_rho = kNoFigure;
  double max_rho = kNoFigure;
  double lease_extension_ratio = kNoFigure;
  double programs = kNoFigure;
  double avg_gap = kNoFigure;
  double max_gap = kNoFigure;
  double avg_queue_length = kNoFigure;
  double max_queue_length = 0;
  double cluster_gpus = 0;
  double turns = 0;
  double wall_s = kNoFigure;
  double peak_rss_mb = kNoFigure;
};

struct MetricInfo {
  std::string_view key;    // in files and on the command line
  std::string_view label;  // in tables
  Unit unit = Unit::kCount;
  Better better = Better::kNeither;
  double Metrics::*field = nullptr;
  std::string_view sentence;
  bool headline = false;  // among the few that a comparison shows by default
};

std::span<const MetricInfo> metric_list();
const MetricInfo* find_metric(std::string_view key);  // null when there is none of that name

}  // namespace muster
