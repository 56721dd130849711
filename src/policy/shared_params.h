// Parameters that several policies describe in the same words.
#pragma once

#include <string_view>

#include "base/params.h"

namespace muster {

inline const ParamInfo kPlanSlot{"slot", ParamKind::kReal, "60",
                                 "where turns have no length: seconds of a slot in the plan", 1e-3};
inline const ParamInfo kSeed{"seed", ParamKind::kInteger, "1", "of the random numbers", 0};
inline const ParamInfo kBoostAfter{
    "boost_after", ParamKind::kReal, "inf",
    "seconds of waiting in a row after which a job goes first, for good", 0};
inline const ParamInfo kService{
    "service", ParamKind::kText,          "gpu-seconds", "what counts as service", -1,
    1,         {"gpu-seconds", "seconds"}};
inline const ParamInfo kQuantum{
    "quantum", ParamKind::kReal, "300",
    "where turns follow events: seconds after which the order is looked at again", 1};
inline const ParamInfo kStrict{"strict", ParamKind::kFlag, "true",
                               "nobody overtakes a job that does not fit"};
inline const ParamInfo kBranches{"branches", ParamKind::kInteger, "1000",
                                 "after so many branches the solver returns the best it has found",
                                 1};
inline const ParamInfo kBackfill{"backfill", ParamKind::kFlag, "true",
                                 "try jobs behind one that does not fit"};

// A flag that only rows of artifacts describe: what a published simulator does beyond what its
// policy is meant to. Off where the row does not have it.
inline bool quirk(const Params& params, std::string_view name) {
  return params.texts().contains(name) && params.flag(name);
}

}  // namespace muster
