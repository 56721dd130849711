// What a description lets policies know of the lengths of jobs.
#pragma once

#include <memory>

#include "run/assembly/jobs.h"
#include "run/config/config.h"
#include "workload/source.h"

namespace muster {

// The jobs as policies may see them; the same source where they may know the truth. `symbols` must
// outlive it; `perf` is what policies believe in.
Result<std::unique_ptr<JobSource>> as_believed(const RunConfig& config,
                                               std::unique_ptr<JobSource> source,
                                               const Symbols& symbols,
                                               std::shared_ptr<const PerfModel> perf);

// The same of a list, for runs in several stages.
Result<std::shared_ptr<const SharedJobs>> as_believed(const RunConfig& config,
                                                      std::shared_ptr<const SharedJobs> jobs,
                                                      std::shared_ptr<const PerfModel> perf);

}  // namespace muster
