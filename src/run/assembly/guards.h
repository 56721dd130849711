// What is checked before and while a simulation runs: that a published scheduler gets the simulator
// it comes from, and that the performance model knows every job.
#pragma once

#include <memory>

#include "model/cluster_spec.h"
#include "perf/perf_model.h"
#include "run/config/config.h"
#include "workload/source.h"

namespace muster {

// A published scheduler that keeps the clock of its jobs (SchedulingTraits::drives_completion)
// reproduces one simulator, and only that.
Status fit_to_drive_completion(const RunConfig& config, const ClusterSpec& cluster,
                               std::string_view pacing);

// The jobs of `source`; one of which the performance model knows nothing ends the stream with its
// complaint.
std::unique_ptr<JobSource> checked_by(std::shared_ptr<const PerfModel> perf,
                                      std::unique_ptr<JobSource> source);

}  // namespace muster
