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

// Of the paper's form only: the published searches breed them all.
inline const ParamInfo kPatience{
    "patience",
    ParamKind::kInteger,
    "30",
    "a search ends early when its best became less than 0.1 % better in this many generations; "
    "0: never",
    0,
    300};

SearchOptions search_options(const Params& params);

}  // namespace muster
