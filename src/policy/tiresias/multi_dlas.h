// Classes of jobs of equal GPU count, each with GPUs and queues of its own; see multi_dlas.cc.
#pragma once

#include <memory>

#include "base/params.h"
#include "policy/scheduling.h"

namespace muster {

// When the GPUs are divided among the classes: at fixed times alone, or also when a job comes or
// goes.
enum class Division { kPeriodic, kAlsoAtChanges };

// The parameters are those of the row `multi-dlas-gpu`.
std::unique_ptr<SchedulingPolicy> make_multi_dlas(const Params& params, Division division);

}  // namespace muster
