// The pacing `leases`: a turn comes when every job has done the training steps that fit a round, as
// in Gavel's simulator. A job ends at its exact moment; its GPUs are free at the next turn.
#pragma once

#include "engine/pacing.h"

namespace muster {

std::unique_ptr<Pacing> make_leases(Seconds length);

PacingInfo lease_pacing();

}  // namespace muster
