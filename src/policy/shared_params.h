// Parameters that several policies describe in the same words.
#pragma once

#include "base/params.h"

namespace muster {

inline const ParamInfo kPlanSlot{"slot", ParamKind::kReal, "60",
                                 "seconds of a slot in the plan, where turns have no fixed length",
                                 1e-3};
inline const ParamInfo kSeed{"seed", ParamKind::kInteger, "1", "seed of the random numbers", 0};
inline const ParamInfo kBoostAfter{
    "boost_after", ParamKind::kReal, "inf",
    "seconds of uninterrupted waiting after which a job goes first and stays first", 0};
inline const ParamInfo kService{
    "service", ParamKind::kText,          "gpu-seconds", "what counts as service", -1,
    1,         {"gpu-seconds", "seconds"}};
inline const ParamInfo kQuantum{
    "quantum", ParamKind::kReal, "300",
    "seconds after which the order is computed again, where turns follow events", 1};
inline const ParamInfo kStrict{"strict", ParamKind::kFlag, "true",
                               "no job overtakes one that does not fit"};
inline const ParamInfo kBranches{"branches", ParamKind::kInteger, "1000",
                                 "branches after which the solver returns the best solution found",
                                 1};
inline const ParamInfo kBackfill{"backfill", ParamKind::kFlag, "true",
                                 "try jobs behind one that does not fit"};

}  // namespace muster
