// Parameters of leases, in both forms of Chronus.
#pragma once

#include "base/params.h"

namespace muster {

inline const ParamInfo kLease{"lease", ParamKind::kReal, "240", "seconds of a lease", 1};
inline const ParamInfo kLeaseChoice{
    "choice",
    ParamKind::kText,
    "exact",
    "how to choose which jobs get the next lease: by an integer program, or greedily",
    -1,
    1,
    {"exact", "greedy"}};

}  // namespace muster
