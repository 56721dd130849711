// The pacing `merged-events`: turns at every event, but a completion that lies close before an
// arrival is taken together with it, at the arrival's time, as Muri's simulator does.
#pragma once

#include "base/closeness.h"
#include "engine/pacing.h"

namespace muster {

std::unique_ptr<Pacing> make_merged_events(const Closeness& merge);

// How close a completion must be to an arrival for both to be one event under this pacing.
Closeness arrival_closeness(const Pacing& pacing);

PacingInfo merged_events_pacing();

}  // namespace muster
