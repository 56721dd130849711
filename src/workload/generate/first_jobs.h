// Ends an endless source after a number of jobs.
#pragma once

#include <cstdint>
#include <memory>

#include "workload/source.h"

namespace muster {

// The first `jobs` of a source; 0 hands the source back as it is.
std::unique_ptr<JobSource> first_jobs(std::unique_ptr<JobSource> source, std::uint64_t jobs);

}  // namespace muster
