// What can be wrong with a job whose record could be read. The readers use this list to refuse jobs
// that cannot be simulated; the doctor uses it to report and repair all faults.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "model/job_spec.h"

namespace muster {

enum class JobFault : std::uint8_t {
  kNotFinite,
  kOverflow,
  kNegativeSubmit,
  kNegativeDuration,
  kNegativeGpus,
  kNoGpus,
  kTooManyGpus,
  kZeroDuration,
  kLateTime,
  kEarlyDeadline,
  kElasticRange,
  kNegativeAmount,
};
inline constexpr std::size_t kJobFaults = 12;

struct JobFaultInfo {
  std::string_view name;      // for scripts
  std::string_view sentence;  // what was found
  std::string_view repair;    // what a repair does about it
  bool fatal;                 // readers refuse such a job
};

const JobFaultInfo& job_fault_info(JobFault fault);

// The faults of one job, as a set of bits by fault number.
using JobFaults = std::uint32_t;
constexpr JobFaults fault_bit(JobFault fault) {
  return JobFaults{1} << static_cast<unsigned>(fault);
}

JobFaults find_faults(const JobSpec& job);

// Those that make a reader refuse a job.
JobFaults fatal_faults();

// The first of the faults in a sentence with the value: "found a duration of -5 s, expected ...".
std::string fault_text(const JobSpec& job, JobFaults faults);

// A quick check: true means that nothing is wrong; false may still be harmless.
inline bool plainly_fine(const JobSpec& job) {
  constexpr double kFar = 1e10;
  constexpr int kManyGpus = 1 << 20;
  return job.submit >= 0 && job.submit < kFar && job.duration > 0 && job.duration < 3e8 &&
         job.gpus >= 1 && job.gpus <= kManyGpus && job.deadline >= job.submit &&
         job.estimate >= 0 && job.cpus >= 0 && job.memory_gb >= 0 && job.iterations >= 0 &&
         job.batch_size >= 0 && job.min_gpus == 0 && job.max_gpus == 0 && job.estimate < kFar &&
         job.cpus < kFar && job.memory_gb < kFar && job.iterations < 1e15;
}

}  // namespace muster
