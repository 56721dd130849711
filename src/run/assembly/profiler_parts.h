// The parts of a profiling stage, whether it runs before the other simulations or in parallel with
// them.
#pragma once

#include "run/assembly/profiling.h"

namespace muster {

// Its nodes: one of them spare where one more may be borrowed.
ClusterSpec profiler_cluster(const ProfilingSettings& settings);
// GPUs of the largest job that it takes.
int largest_profiled(const ProfilingSettings& settings);
// The part of a job that the profiler sees: its first seconds, whatever is believed of the rest.
JobSpec as_profiled(const JobSpec& job, Seconds limit);
// What decides there: fewest GPUs first, on whole nodes. Of `usual` it takes pacing and forecast.
Result<Engine::Parts> profiler_parts(const ProfilingSettings& settings, const Engine::Parts& usual);
// The cluster of the run without the nodes that went to the profiler, and with places for nodes
// that return at `events`.
Result<ClusterSpec> without_profiler(const ClusterSpec& cluster, const ProfilingSettings& settings,
                                     const std::vector<ScalingEvent>& events);

}  // namespace muster
