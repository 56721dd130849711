// The words of recordings, shared by the half that writes and the half that reads.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/job_spec.h"

namespace muster {

// Fields of a job by name; those at their default are left out. A job's number is not among them:
// the engine gives it.
using RecordedMember =
    std::variant<double JobSpec::*, int JobSpec::*, Symbol JobSpec::*, std::string JobSpec::*,
                 StageTimes JobSpec::*, std::vector<ValueStep> JobSpec::*>;
struct RecordedField {
  std::string_view name;
  RecordedMember member;
};

const std::vector<RecordedField>& recorded_job_fields();

inline constexpr std::array<std::string_view, 5> kCommandNames = {"start", "stop", "resize", "move",
                                                                  "update-rate"};
inline constexpr std::array<std::string_view, 7> kEventNames = {
    "progress", "finished", "failed", "node-up", "node-down", "gpu-up", "gpu-down"};

}  // namespace muster
