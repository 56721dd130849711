// The engine's answer in the form of the plain simulator, so that the two can be compared.
#pragma once

#include <vector>

#include "reference/plain_simulator.h"
#include "support/simulation.h"

namespace muster {

// Runs `scenario` with these jobs on `nodes` nodes of `gpus_per_node` GPUs. Every time must be a
// whole second.
PlainSchedule engine_schedule(int nodes, int gpus_per_node, const std::vector<PlainJob>& jobs,
                              Scenario scenario);

}  // namespace muster
