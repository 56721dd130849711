// Published measurements of what a start costs, by model and GPU count.
#pragma once

#include "base/result.h"
#include "base/symbols.h"
#include "perf/restart_cost.h"

namespace muster {

// Muri (SIGCOMM'22): seconds until the first step, eight models on 1 to 32 GPUs; 10 s for any
// other.
RestartCost muri_restart_cost(Symbols& symbols);

}  // namespace muster
