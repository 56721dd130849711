// A policy that allocates time, by its name and parameters, without the rounds around it: for
// execution without rounds, for timing decisions and for Gavel's figure 11.
#pragma once

#include <memory>

#include "base/result.h"
#include "policy/gavel/allocator.h"
#include "run/config/choice.h"

namespace muster {

// The error names the policies that allocate time, or the parameter that is wrong.
Result<std::unique_ptr<Allocator>> make_allocator(const Choice& choice);

}  // namespace muster
