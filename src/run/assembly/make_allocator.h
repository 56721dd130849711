// A policy that allocates time, by its name and parameters, without the rounds around it: what
// execution without rounds, the timing of decisions and Gavel's figure 11 are about.
#pragma once

#include <memory>

#include "base/result.h"
#include "policy/gavel/allocator.h"
#include "run/config/choice.h"

namespace muster {

// The error names the policies that allocate time, or the parameter that is wrong.
Result<std::unique_ptr<Allocator>> make_allocator(const Choice& choice);

}  // namespace muster
