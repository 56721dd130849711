// The Gittins index as Tiresias' simulator has it.
#pragma once

#include "policy/tiresias/duration_sample.h"

namespace muster {

// The original computes the index once for each past duration, as of one GPU-second less, rounded,
// and looks it up for the next past duration that is longer than whole GPU-seconds attained; 0
// beyond the longest. Nothing is taken off for what was attained, and the longest duration never
// counts as over.
double gittins_as_coded(const DurationSample& sample, double attained);

}  // namespace muster
