// When a waiting job will start, as far as anybody can tell: the live state goes on in a
// simulation, without jobs that are yet to come, with remaining times as they are believed now.
#pragma once

#include <chrono>
#include <optional>

#include "engine/world.h"
#include "run/assembly/live_plan.h"

namespace muster {

// The world of an engine that runs, with `scale` times as much work left as is believed; a plan of
// the same description. Nothing if the job does not start, or looking took longer than `limit`.
std::optional<Seconds> expected_start(LivePlan plan, EngineWorld world, JobId job, double scale,
                                      std::chrono::milliseconds limit);

}  // namespace muster
