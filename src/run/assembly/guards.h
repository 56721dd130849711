// Checks before and while a simulation runs: that a published scheduler gets the simulator it comes
// from, and that the performance models know the jobs.
#pragma once

#include <memory>

#include "model/cluster_spec.h"
#include "perf/perf_model.h"
#include "policy/scheduling.h"
#include "run/config/config.h"
#include "workload/source.h"

namespace muster {

// A published scheduler that keeps the clock of its jobs (SchedulingTraits::drives_completion)
// reproduces one simulator, and only that.
Status fit_to_drive_completion(const RunConfig& config, const ClusterSpec& cluster,
                               std::string_view pacing);
// Where anything but that simulator carries out what policies decide (a cluster, a copy that looks
// ahead), such a scheduler is refused.
Status leaves_completion_to_backend(const SchedulingPolicy& policy, std::string_view name);

// The jobs of `source`, with notes on those that the performance models do not know. A job that
// `beliefs` do not know is refused by the engine; one that only `truth` does not know could be
// started and never get on, so it ends the stream with the complaint.
std::unique_ptr<JobSource> checked_by(std::shared_ptr<const PerfModel> truth,
                                      std::shared_ptr<const PerfModel> beliefs,
                                      std::unique_ptr<JobSource> source);

}  // namespace muster
