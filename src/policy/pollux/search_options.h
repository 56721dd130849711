// The parameters that both forms of Pollux share.
#pragma once

#include "base/params.h"
#include "solve/allocation_search.h"

namespace muster {

inline const ParamInfo kPopulation{
    "population", ParamKind::kInteger, "100", "candidates kept in each generation of the search", 2,
    300};
inline const ParamInfo kGenerations{
    "generations", ParamKind::kInteger, "100", "generations of a search", 1, 300};
inline const ParamInfo kFairness{
    "fairness",
    ParamKind::kReal,
    "-1",
    "exponent of the power mean of speed-ups: 1 is the plain mean; lower values favour slow jobs",
    -10,
    1};

SearchOptions search_options(const Params& params);

}  // namespace muster
