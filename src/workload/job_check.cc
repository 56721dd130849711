#include "workload/job_check.h"

#include <cmath>

#include <fmt/format.h>

#include "base/text.h"

namespace muster {
namespace {

constexpr double kYear = 365.25 * 86400;
// Beyond this a double no longer resolves milliseconds of a schedule; no clock means it seriously.
constexpr double kLargestTime = 1e12;
constexpr double kLateSubmit = 1e10;  // the year 2286, or milliseconds taken for seconds
constexpr double kLongDuration = 10 * kYear;
constexpr int kMostGpus = 1 << 20;

constexpr std::array<JobFaultInfo, kJobFaults> kInfos = {{
    {"not-finite", "a time or amount is not a number, or infinite", "the job is dropped", true},
    {"overflow", "a time is beyond any clock (over 10^12 s)", "the job is dropped", true},
    {"negative-submit", "it is submitted before time 0",
     "all times are moved so that the first is 0", true},
    {"negative-duration", "its duration is negative", "the job is dropped", true},
    {"negative-gpus", "it asks for a negative number of GPUs", "the job is dropped", true},
    {"no-gpus", "it asks for no GPUs", "the job is dropped", true},
    {"too-many-gpus", "it asks for over a million GPUs", "the job is dropped", true},
    {"zero-duration", "its duration is zero", "the job is dropped", false},
    {"late-time",
     "it is submitted centuries from time 0, or runs for over ten years: perhaps the unit is "
     "not the second",
     "the job is dropped", false},
    {"early-deadline", "its deadline lies before its submission", "the deadline is removed", true},
    {"elastic-range",
     "its smallest and largest GPU counts exclude each other or the count it asks for",
     "the range is removed", true},
    {"negative-amount", "an estimate, CPU count, memory, iteration count or batch size is negative",
     "the amount is made unknown", true},
}};

bool finite_or_never(double value) { return !std::isnan(value) && value != -kNever; }

bool elastic_range_ok(const JobSpec& job) {
  if (job.min_gpus < 0 || job.max_gpus < 0) return false;
  if (job.min_gpus > 0 && job.min_gpus > job.gpus) return false;
  return job.max_gpus == 0 || job.max_gpus >= job.gpus;
}

}  // namespace

const JobFaultInfo& job_fault_info(JobFault fault) {
  return kInfos.at(static_cast<std::size_t>(fault));
}

JobFaults find_faults(const JobSpec& job) {
  if (plainly_fine(job)) return 0;
  JobFaults faults = 0;
  const auto mark = [&faults](bool wrong, JobFault fault) {
    if (wrong) faults |= fault_bit(fault);
  };
  const bool finite = std::isfinite(job.submit) && std::isfinite(job.duration) &&
                      finite_or_never(job.deadline) && std::isfinite(job.estimate) &&
                      std::isfinite(job.cpus) && std::isfinite(job.memory_gb) &&
                      std::isfinite(job.iterations);
  mark(!finite, JobFault::kNotFinite);
  mark(std::abs(job.submit) > kLargestTime || std::abs(job.duration) > kLargestTime ||
           (job.deadline < kNever && std::abs(job.deadline) > kLargestTime),
       JobFault::kOverflow);
  mark(job.submit < 0, JobFault::kNegativeSubmit);
  mark(job.duration < 0, JobFault::kNegativeDuration);
  mark(job.duration == 0, JobFault::kZeroDuration);
  mark(job.gpus < 0, JobFault::kNegativeGpus);
  mark(job.gpus == 0, JobFault::kNoGpus);
  mark(job.gpus > kMostGpus, JobFault::kTooManyGpus);
  mark(std::abs(job.submit) > kLateSubmit || job.duration > kLongDuration, JobFault::kLateTime);
  mark(job.deadline < job.submit, JobFault::kEarlyDeadline);
  mark(!elastic_range_ok(job), JobFault::kElasticRange);
  mark(job.estimate < 0 || job.cpus < 0 || job.memory_gb < 0 || job.iterations < 0 ||
           job.batch_size < 0,
       JobFault::kNegativeAmount);
  return faults;
}

JobFaults fatal_faults() {
  JobFaults faults = 0;
  for (std::size_t i = 0; i < kJobFaults; ++i) {
    if (kInfos.at(i).fatal) faults |= fault_bit(static_cast<JobFault>(i));
  }
  return faults;
}

std::string fault_text(const JobSpec& job, JobFaults faults) {
  for (std::size_t i = 0; i < kJobFaults; ++i) {
    const auto fault = static_cast<JobFault>(i);
    if ((faults & fault_bit(fault)) == 0) continue;
    switch (fault) {
      case JobFault::kNotFinite:
      case JobFault::kOverflow:
        return fmt::format(
            "found the times submit {}, duration {}, deadline {}, expected plain numbers of "
            "seconds below 10^12",
            exact_text(job.submit), exact_text(job.duration), exact_text(job.deadline));
      case JobFault::kNegativeSubmit:
        return fmt::format("found the submission time {} s, expected 0 or later",
                           exact_text(job.submit));
      case JobFault::kNegativeDuration:
      case JobFault::kZeroDuration:
        return fmt::format("found a duration of {} s, expected more than 0",
                           exact_text(job.duration));
      case JobFault::kNegativeGpus:
      case JobFault::kNoGpus:
      case JobFault::kTooManyGpus:
        return fmt::format("found {} GPUs, expected 1 to {}", job.gpus, kMostGpus);
      case JobFault::kLateTime:
        return fmt::format(
            "found submission at {} s and a duration of {} s, expected years at most; is "
            "the unit the second?",
            exact_text(job.submit), exact_text(job.duration));
      case JobFault::kEarlyDeadline:
        return fmt::format("found the deadline {} s, expected it after the submission at {} s",
                           exact_text(job.deadline), exact_text(job.submit));
      case JobFault::kElasticRange:
        return fmt::format(
            "found {} GPUs with at least {} and at most {}, expected at least <= GPUs <= at "
            "most",
            job.gpus, job.min_gpus, job.max_gpus);
      case JobFault::kNegativeAmount:
        return fmt::format(
            "found estimate {}, CPUs {}, memory {}, iterations {}, batch size {}, expected "
            "none below 0",
            exact_text(job.estimate), exact_text(job.cpus), exact_text(job.memory_gb),
            exact_text(job.iterations), job.batch_size);
    }
  }
  return "";
}

}  // namespace muster
