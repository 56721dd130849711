// Classes of jobs of equal GPU count, each with GPUs and queues of its own; see multi_dlas.cc.
#pragma once

#include <memory>

#include "base/params.h"
#include "policy/scheduling.h"

namespace muster {

// When GPUs are allocated to the classes: at fixed times only, or also when a job comes or goes.
enum class AllocationTimes { kPeriodic, kAlsoAtChanges };

// The parameters are those of the row `multi-dlas-gpu`.
std::unique_ptr<SchedulingPolicy> make_multi_dlas(const Params& params, AllocationTimes times);

}  // namespace muster
