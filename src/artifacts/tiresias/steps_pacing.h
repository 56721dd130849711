// The pacing `steps`: turns at every arrival, and so many seconds after the last turn, as the
// simulators of Tiresias and Muri take them under Gandiva. An arrival begins a new count, so turns
// do not lie on a grid. A job ends, and its GPUs are free, at the next turn.
#pragma once

#include "engine/pacing.h"

namespace muster {

std::unique_ptr<Pacing> make_steps(Seconds length);

PacingInfo steps_pacing();

}  // namespace muster
