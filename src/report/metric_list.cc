#include "report/metric_list.h"

#include <array>

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
               "jobs that left: finished, failed or refused", true},
    MetricInfo{"finished", "finished", kCount, kHigher, &M::finished,
               "jobs that did all their work", true},
    MetricInfo{"refused", "refused", kCount, kNeither, &M::refused,
               "jobs that admission turned away"},
    MetricInfo{"failed", "failed", kCount, kLower, &M::failed, "jobs that were given up"},
    MetricInfo{"unfinished", "unfinished", kCount, kLower, &M::unfinished,
               "jobs still in the system when the run stopped"},
    MetricInfo{"avg_jct_s", "avg JCT", kSeconds, kLower, &M::avg_jct_s,
               "mean completion time, end minus submit, of finished jobs", true},
    MetricInfo{"p50_jct_s", "p50 JCT", kSeconds, kLower, &M::p50_jct_s, "median completion time",
               true},
    MetricInfo{"p90_jct_s", "p90 JCT", kSeconds, kLower, &M::p90_jct_s,
               "nine in ten finish within this"},
    MetricInfo{"p99_jct_s", "p99 JCT", kSeconds, kLower, &M::p99_jct_s,
               "ninety-nine in a hundred finish within this", true},
    MetricInfo{"p99_rank_jct_s", "p99 JCT by rank", kSeconds, kLower, &M::p99_rank_jct_s,
               "the completion time at place 0.99 n, rounded down, of n in order: as Muri has it"},
    MetricInfo{"max_jct_s", "max JCT", kSeconds, kLower, &M::max_jct_s, "longest completion time"},
    MetricInfo{"makespan_s", "makespan", kSeconds, kLower, &M::makespan_s,
               "from the first submit to the last end", true},
    MetricInfo{"avg_queue_s", "avg queueing", kSeconds, kLower, &M::avg_queue_s,
               "mean time without GPUs of finished jobs, waits after preemptions included", true},
    MetricInfo{"p50_queue_s", "p50 queueing", kSeconds, kLower, &M::p50_queue_s,
               "median time without GPUs"},
    MetricInfo{"p99_queue_s", "p99 queueing", kSeconds, kLower, &M::p99_queue_s,
               "ninety-nine in a hundred wait no longer"},
    MetricInfo{"p999_queue_s", "p99.9 queueing", kSeconds, kLower, &M::p999_queue_s,
               "999 in a thousand wait no longer"},
    MetricInfo{"avg_responsiveness_s", "avg responsiveness", kSeconds, kLower,
               &M::avg_responsiveness_s,
               "mean time from submit to first start of jobs that started"},
    MetricInfo{"p99_responsiveness_s", "p99 responsiveness", kSeconds, kLower,
               &M::p99_responsiveness_s, "ninety-nine in a hundred start within this"},
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
               "GPU time of nodes that were up and awake, from the first job to the last end"},
    MetricInfo{"cost_usd", "cost", Unit::kDollars, kLower, &M::cost_usd,
               "dollars for the GPUs in use, over the whole run; none without prices"},
    MetricInfo{"job_cost_usd", "cost of jobs", Unit::kDollars, kLower, &M::job_cost_usd,
               "dollars for the GPUs that jobs held, shared ones counted for each"},
    MetricInfo{"lost_work_s", "lost work", kSeconds, kLower, &M::lost_work_s,
               "work done twice because of failures, over all jobs"},
    MetricInfo{"overhead_s", "overhead", kSeconds, kLower, &M::overhead_s,
               "time paid for starts and restarts, over all jobs"},
    MetricInfo{"avg_slowdown", "avg slowdown", kFactor, kLower, &M::avg_slowdown,
               "mean of completion time over undisturbed run time"},
    MetricInfo{"p99_slowdown", "p99 slowdown", kFactor, kLower, &M::p99_slowdown,
               "ninety-nine in a hundred are slowed down no more"},
    MetricInfo{"avg_bounded_slowdown", "avg bounded slowdown", kFactor, kLower,
               &M::avg_bounded_slowdown,
               "the same with run times below 10 s taken as 10 s, at least 1"},
    MetricInfo{"deadline_jobs", "jobs with deadlines", kCount, kNeither, &M::deadline_jobs,
               "jobs that carry a deadline"},
    MetricInfo{"deadline_met_ratio", "deadlines met", Unit::kRatio, kHigher, &M::deadline_met_ratio,
               "share of jobs with deadlines that finished in time; refused ones did not"},
    MetricInfo{"late_jobs", "late", kCount, kLower, &M::late_jobs,
               "jobs that finished after their deadline"},
    MetricInfo{"avg_lateness_s", "avg lateness", kSeconds, kLower, &M::avg_lateness_s,
               "mean time after the deadline, of jobs that finished late"},
    MetricInfo{"value_ratio", "value earned", Unit::kRatio, kHigher, &M::value_ratio,
               "value of what was finished when it was, over its value had all been in time"},
    MetricInfo{"best_effort_avg_jct_s", "best-effort avg JCT", kSeconds, kLower,
               &M::best_effort_avg_jct_s,
               "mean completion time of jobs without deadline, where others have one"},
    MetricInfo{"fairness_jain", "fairness (Jain)", kFactor, kHigher, &M::fairness_jain,
               "Jain's index over users of undisturbed run time over completion time; 1 is even"},
    MetricInfo{"avg_rho", "avg finish-time rho", kFactor, kLower, &M::avg_rho,
               "mean of completion time over run time times contention; up to 1 is fair"},
    MetricInfo{"max_rho", "max finish-time rho", kFactor, kLower, &M::max_rho,
               "the same of the job that fared worst"},
    MetricInfo{"lease_extension_ratio", "leases extended", Unit::kRatio, kHigher,
               &M::lease_extension_ratio,
               "of running jobs that did not end, counted at every turn: those that kept GPUs"},
    MetricInfo{"programs", "programs solved", kCount, kNeither, &M::programs,
               "integer programs, or rules in their place, that chose who runs"},
    MetricInfo{"avg_gap", "avg gap", Unit::kRatio, kLower, &M::avg_gap,
               "how much better than the choice taken another could have been, mean over programs"},
    MetricInfo{"max_gap", "max gap", Unit::kRatio, kLower, &M::max_gap,
               "the largest such gap of the run"},
    MetricInfo{"avg_queue_length", "avg queue length", kCount, kLower, &M::avg_queue_length,
               "jobs waiting or held, averaged over time"},
    MetricInfo{"max_queue_length", "max queue length", kCount, kLower, &M::max_queue_length,
               "most jobs waiting or held at once"},
    MetricInfo{"cluster_gpus", "cluster GPUs", kCount, kNeither, &M::cluster_gpus,
               "most GPUs usable at once"},
    MetricInfo{"turns", "turns", kCount, kNeither, &M::turns,
               "turns of the engine, skipped ones included"},
    MetricInfo{"wall_s", "wall time", kSeconds, kNeither, &M::wall_s,
               "real time that the run took"},
    MetricInfo{"peak_rss_mb", "peak memory", Unit::kMegabytes, kNeither, &M::peak_rss_mb,
               "most memory the process held, in units of 1,048,576 bytes"},
};

}  // namespace

std::span<const MetricInfo> metric_list() { return kMetrics; }

const MetricInfo* find_metric(std::string_view key) {
  for (const MetricInfo& metric : kMetrics) {
    if (metric.key == key) return &metric;
  }
  return nullptr;
}

}  // namespace muster
