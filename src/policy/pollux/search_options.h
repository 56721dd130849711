// The parameters that both forms of Pollux share.
#pragma once

#include "base/params.h"
#include "solve/allocation_search.h"

namespace muster {

inline const ParamInfo kPopulation{"population",
                                   ParamKind::kInteger,
                                   "100",
                                   "candidates that survive a generation of the search",
                                   2,
                                   300};
inline const ParamInfo kGenerations{
    "generations", ParamKind::kInteger, "100", "generations of a search", 1, 300};
inline const ParamInfo kFairness{
    "fairness",
    ParamKind::kReal,
    "-1",
    "power of the mean of all speed-ups: 1 adds them up, the less the more the slow ones count",
    -10,
    1};

SearchOptions search_options(const Params& params);

}  // namespace muster
