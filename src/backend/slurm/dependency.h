// When a job that users submitted is due: after its begin time, and once the jobs that it depends
// on have ended as it wants. Slurm judges the dependencies of a held job when it is released and
// not before, so those of jobs that are held for us are judged here; Slurm judges them again.
#pragma once

#include <cstdint>
#include <map>

#include "backend/slurm/rows.h"

namespace muster {

enum class JobDue : std::uint8_t { kNow, kLater, kInVain };

// `rows` is all that Slurm knows, by number. A job that it has forgotten is over: whether that was
// what the dependency asks for, Slurm says when the job is released.
JobDue job_due(const SlurmJob& job, const std::map<std::uint32_t, SlurmJob>& rows, double now);

}  // namespace muster
