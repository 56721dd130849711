// Parameters of policies that stand in several of the tables behind policy/table.h.
#pragma once

#include "base/params.h"

namespace muster {

inline const ParamInfo kPlanSlot{"slot", ParamKind::kReal, "60",
                                 "where turns have no length: seconds of a slot in the plan", 1e-3};
inline const ParamInfo kSeed{"seed", ParamKind::kInteger, "1", "of the random numbers", 0};

}  // namespace muster
