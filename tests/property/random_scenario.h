// Scenarios out of a seed: any cluster, any jobs, any policies. The same seed is the same scenario
// everywhere, so a seed is all that is needed to see a failure again.
#pragma once

#include <cstdint>
#include <string>

#include "support/simulation.h"

namespace muster {

Scenario random_scenario(std::uint64_t seed);

// What the scenario is made of, in one line.
std::string describe(const Scenario& scenario);

}  // namespace muster
