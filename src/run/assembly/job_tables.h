// Files that accompany a trace: estimates and workloads by job id, and the forecast of load.
#pragma once

#include <vector>

#include "base/symbols.h"
#include "model/job_spec.h"
#include "perf/forecast.h"
#include "run/config/config.h"

namespace muster {

// Fills in what workload.estimates and workload.models know of the jobs. A job that such a file
// does not know is an error: half an order is worse than none.
Status add_job_tables(std::vector<JobSpec>& jobs, const WorkloadConfig& workload, Symbols& symbols);

Result<Forecast> load_forecast(const ForecastConfig& config);

}  // namespace muster
