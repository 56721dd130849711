// What must hold after every turn, recomputed from scratch: no GPU given twice, no job lost or run
// twice, gang or nothing, progress never negative, accounts that add up. Built into the engine of
// test builds.
#pragma once

#include <optional>
#include <string>

#include "engine/engine.h"

namespace muster {

// The first invariant that is broken, in words; nothing if all hold.
std::optional<std::string> broken_invariant(const Engine& engine);

// Aborts with that sentence.
void check_invariants(const Engine& engine);

}  // namespace muster
