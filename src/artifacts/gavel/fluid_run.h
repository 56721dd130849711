// The execution `fluid`: fractions of time are carried out exactly. Between two events every job
// makes the progress that its fractions of each GPU type amount to, without rounds, GPUs of its own
// or placement: what a policy that allocates time would give if the mechanism below it were perfect
// (Gavel's --ideal).
//
// The policy is asked at every arrival and completion, and when a price changes. No engine runs: a
// job holds a fraction of many GPUs, which no backend could give it. What must hold instead is
// checked after every event in test builds (broken_allocation).
#pragma once

#include <optional>
#include <string>

#include "engine/execution.h"
#include "policy/gavel/allocator.h"

namespace muster {

ExecutionInfo fluid_execution();

// The first rule that the fractions break, in words; nothing if all hold: no job runs more than all
// the time, and, unless the allocator overbooks, no more GPUs of a type are in use than there are.
std::optional<std::string> broken_allocation(const AllocationProblem& problem,
                                             const Allocation& allocation,
                                             const AllocatorTraits& traits);

}  // namespace muster
