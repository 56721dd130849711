// The profiler within the cluster (profiling.within), put before the queue of policy sets: the same
// for a simulation, a live cluster and a what-if.
#pragma once

#include <span>

#include "engine/engine.h"
#include "run/config/config.h"

namespace muster {

// Nothing happens where the description has no such profiler.
Status add_profiler_within(const RunConfig& config, const ClusterSpec& cluster,
                           const Symbols& symbols, std::span<PolicySet> policy_sets);

}  // namespace muster
