#include "report/metric_list.h"

#include <array>

#include "base/text.h"

namespace muster {
namespace {

using M = Metrics;
constexpr Unit kCount = Unit::kCount;
constexpr Unit kSeconds = Unit::kSeconds;
constexpr Unit kFactor = Unit::kFactor;
constexpr Better kNeither = Better::kNeither;
constexpr Better kLower = Better::kLower;
constexpr Better kHigher = Better::kHigher;

constexpr std::array kMetrics = {
    MetricInfo{"jobs", "jobs", kCount, kNeither, &M::jobs,
               "jobs that left the system: finished, failed, refused or cancelled", true},
    MetricInfo{"finished", "finished", kCount, kHigher, &M::finished,
               "jobs that did all their work", true},
    MetricInfo{"refused", "refused", kCount, kNeither, &M::refused, "jobs that were refused"},
    MetricInfo{"failed", "failed", kCount, kLower, &M::failed, "jobs that failed for good"},
    MetricInfo{"cancelled", "cancelled", kCount, kNeither, &M::cancelled,
               "jobs that a person cancelled"},
    MetricInfo{"unfinished", "unfinished", kCount, kLower, &M::unfinished,
               "jobs still in the system when the run stopped"},
    MetricInfo{"avg_jct_s", "avg JCT", kSeconds, kLower, &M::avg_jct_s,
               "mean completion time (end minus submission) of finished jobs", true},
    MetricInfo{"p50_jct_s", "p50 JCT", kSeconds, kLower, &M::p50_jct_s, "median completion time",
               true},
    MetricInfo{"p90_jct_s", "p90 JCT", kSeconds, kLower, &M::p90_jct_s,
               "90th percentile of completion time"},
    MetricInfo{"p99_jct_s", "p99 JCT", kSeconds, kLower, &M::p99_jct_s,
               "99th percentile of completion time", true},
    MetricInfo{"max_jct_s", "max JCT", kSeconds, kLower, &M::max_jct_s, "longest completion time"},
    MetricInfo{"makespan_s", "makespan", kSeconds, kLower, &M::makespan_s,
               "time from the first submission to the last end", true},
    MetricInfo{"avg_queue_s", "avg queueing", kSeconds, kLower, &M::avg_queue_s,
               "mean queueing time of finished jobs: all time without GPUs", true},
    MetricInfo{"p50_queue_s", "p50 queueing", kSeconds, kLower, &M::p50_queue_s,
               "median queueing time"},
    MetricInfo{"p99_queue_s", "p99 queueing", kSeconds, kLower, &M::p99_queue_s,
               "99th percentile of queueing time"},
    MetricInfo{"p999_queue_s", "p99.9 queueing", kSeconds, kLower, &M::p999_queue_s,
               "99.9th percentile of queueing time"},
    MetricInfo{"avg_responsiveness_s", "avg responsiveness", kSeconds, kLower,
               &M::avg_responsiveness_s,
               "mean time from submission to first start, of jobs that started"},
    MetricInfo{"p99_responsiveness_s", "p99 responsiveness", kSeconds, kLower,
               &M::p99_responsiveness_s, "99th percentile of the time to first start"},
    MetricInfo{"utilization", "utilisation", Unit::kRatio, kHigher, &M::utilization,
               "GPU-seconds in use over GPU-seconds usable, from the first job to the last end",
               true},
    MetricInfo{"busy_utilization", "busy utilisation", Unit::kRatio, kHigher, &M::busy_utilization,
               "the same from the first start to the last arrival, while jobs still came", true},
    MetricInfo{"preemptions", "preemptions", kCount, kLower, &M::preemptions,
               "times a job lost its GPUs to another job", true},
    MetricInfo{"restarts", "restarts", kCount, kLower, &M::restarts,
               "times a job lost its GPUs to a failure"},
    MetricInfo{"resizes", "resizes", kCount, kNeither, &M::resizes,
               "changes of a running job's GPU count"},
    MetricInfo{"gpu_hours", "GPU hours", Unit::kGpuHours, kNeither, &M::gpu_hours,
               "GPU time held by jobs"},
    MetricInfo{"powered_gpu_hours", "powered GPU hours", Unit::kGpuHours, kLower,
               &M::powered_gpu_hours,
               "GPU time of nodes that were powered, from the first job to the last end"},
    MetricInfo{"cost_usd", "cost", Unit::kDollars, kLower, &M::cost_usd,
               "dollars for the GPUs in use over the whole run; needs prices"},
    MetricInfo{"job_cost_usd", "cost of jobs", Unit::kDollars, kLower, &M::job_cost_usd,
               "dollars for the GPUs that jobs held; shared GPUs count for each job"},
    MetricInfo{"lost_work_s", "lost work", kSeconds, kLower, &M::lost_work_s,
               "work lost in failures and done again, over all jobs"},
    MetricInfo{"overhead_s", "overhead", kSeconds, kLower, &M::overhead_s,
               "time spent on starts and restarts, over all jobs"},
    MetricInfo{"avg_slowdown", "avg slowdown", kFactor, kLower, &M::avg_slowdown,
               "mean slowdown: completion time over undisturbed run time"},
    MetricInfo{"p99_slowdown", "p99 slowdown", kFactor, kLower, &M::p99_slowdown,
               "99th percentile of slowdown"},
    MetricInfo{"avg_bounded_slowdown", "avg bounded slowdown", kFactor, kLower,
               &M::avg_bounded_slowdown,
               "mean slowdown with run times of at least 10 s, and at least 1"},
    MetricInfo{"deadline_jobs", "jobs with deadlines", kCount, kNeither, &M::deadline_jobs,
               "jobs that have a deadline"},
    MetricInfo{
        "deadline_met_ratio", "deadlines met", Unit::kRatio, kHigher, &M::deadline_met_ratio,
        "fraction of jobs with deadlines that finished in time; refused jobs count as missed"},
    MetricInfo{"late_jobs", "late", kCount, kLower, &M::late_jobs,
               "jobs that finished after their deadline"},
    MetricInfo{"avg_lateness_s", "avg lateness", kSeconds, kLower, &M::avg_lateness_s,
               "mean lateness of jobs that finished late"},
    MetricInfo{"value_ratio", "value earned", Unit::kRatio, kHigher, &M::value_ratio,
               "value earned over the value if all jobs had finished in time"},
    MetricInfo{"best_effort_avg_jct_s", "best-effort avg JCT", kSeconds, kLower,
               &M::best_effort_avg_jct_s,
               "mean completion time of jobs without deadline, if others have one"},
    MetricInfo{"fairness_jain", "fairness (Jain)", kFactor, kHigher, &M::fairness_jain,
               "Jain's fairness index over users' run time over completion time; 1 is even"},
    MetricInfo{"avg_rho", "avg finish-time rho", kFactor, kLower, &M::avg_rho,
               "mean finish-time fairness: completion time over run time times contention; up to 1 "
               "is fair"},
    MetricInfo{"max_rho", "max finish-time rho", kFactor, kLower, &M::max_rho,
               "worst finish-time fairness of a job"},
    MetricInfo{"lease_extension_ratio", "leases extended", Unit::kRatio, kHigher,
               &M::lease_extension_ratio,
               "fraction of running, unfinished jobs that kept their GPUs from turn to turn"},
    MetricInfo{"programs", "programs solved", kCount, kNeither, &M::programs,
               "integer programs solved, searches made, or greedy choices in their place"},
    MetricInfo{"avg_gap", "avg gap", Unit::kRatio, kLower, &M::avg_gap,
               "mean optimality gap of these programs"},
    MetricInfo{"max_gap", "max gap", Unit::kRatio, kLower, &M::max_gap, "largest optimality gap"},
    MetricInfo{"avg_queue_length", "avg queue length", kCount, kLower, &M::avg_queue_length,
               "mean number of jobs waiting or held, over time"},
    MetricInfo{"max_queue_length", "max queue length", kCount, kLower, &M::max_queue_length,
               "largest number of jobs waiting or held"},
    MetricInfo{"cluster_gpus", "cluster GPUs", kCount, kNeither, &M::cluster_gpus,
               "largest number of usable GPUs"},
    MetricInfo{"turns", "turns", kCount, kNeither, &M::turns,
               "turns of the scheduling loop, skipped ones included"},
    MetricInfo{"wall_s", "wall time", kSeconds, kNeither, &M::wall_s, "wall-clock time of the run"},
    MetricInfo{"peak_rss_mb", "peak memory", Unit::kMegabytes, kNeither, &M::peak_rss_mb,
               "peak memory of the process in MiB"},
};

}  // namespace

std::span<const MetricInfo> metric_list() { return kMetrics; }

const MetricInfo* find_metric(std::string_view key) {
  for (const MetricInfo& metric : kMetrics) {
    if (same_name(metric.key, key)) return &metric;
  }
  return nullptr;
}

}  // namespace muster
