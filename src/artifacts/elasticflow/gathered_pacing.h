// The pacing `gathered`: turns at events, at least a slot apart, as ElasticFlow's simulator takes
// them.
//
// What falls into the slot after a turn is put off to the slot's end, but an event that is the only
// one left keeps its moment. A job ends at its exact moment; its GPUs are free at the next turn.
#pragma once

#include "engine/pacing.h"

namespace muster {

// Which events make a turn. Each scheduler of the simulator has its own rule.
enum class Gathering {
  kEverything,  // ElasticFlow and EDF
  kArrivals,    // arrivals wait for the end of the slot, the policy's own events do not (Tiresias)
  kArrivalsAlone,  // arrivals while there are any, then every slot (Gandiva)
  kEverySlot,      // from the first arrival on (Themis)
};

std::unique_ptr<Pacing> make_gathered(Seconds slot, Gathering rule);

PacingInfo gathered_pacing();

}  // namespace muster
