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

// Whether the run is what a policy declares to count on: its pacing, even nodes, no selector.
Status fit_for(const SchedulingTraits& traits, const RunConfig& config, const ClusterSpec& cluster);
// Where anything but a simulation carries out what policies decide (a cluster, a copy that looks
// ahead), one that repeats a published simulator is refused.
Status works_outside_its_simulator(const SchedulingTraits& traits, std::string_view name);

// The jobs of `source`, with notes on those that the performance models do not know. A job that
// `beliefs` do not know is refused by the engine; one that only `truth` does not know could be
// started and never get on, so it ends the stream with the complaint.
std::unique_ptr<JobSource> checked_by(std::shared_ptr<const PerfModel> truth,
                                      std::shared_ptr<const PerfModel> beliefs,
                                      std::unique_ptr<JobSource> source);

}  // namespace muster
