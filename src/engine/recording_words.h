// The words of recordings, shared by the writer and the reader.
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
    std::variant<double JobSpec::*, int JobSpec::*, bool JobSpec::*, Symbol JobSpec::*,
                 std::string JobSpec::*, StageTimes JobSpec::*, std::vector<ValueStep> JobSpec::*,
                 double TrueLength::*>;
struct RecordedField {
  std::string_view name;
  RecordedMember member;
};

const std::vector<RecordedField>& recorded_job_fields();

template <typename Value>
const Value& recorded_value(const JobSpec& job, Value JobSpec::*member) {
  return job.*member;
}
inline double recorded_value(const JobSpec& job, double TrueLength::*member) {
  return (*job.truth).*member;
}
// Lets `change` alter the value.
template <typename Value, typename Change>
void change_recorded(JobSpec& job, Value JobSpec::*member, Change change) {
  change(job.*member);
}
template <typename Change>
void change_recorded(JobSpec& job, double TrueLength::*member, Change change) {
  TrueLength truth = *job.truth;
  change(truth.*member);
  job.truth.set(truth);
}

inline constexpr std::array<std::string_view, 6> kCommandNames = {"start", "stop",        "resize",
                                                                  "move",  "update-rate", "adopt"};
inline constexpr std::array<std::string_view, 17> kEventNames = {
    "progress", "finished",  "failed",     "node-up",      "node-down", "gpu-up",
    "gpu-down", "started",   "returned",   "released",     "cancelled", "revised",
    "drained",  "undrained", "node-added", "node-removed", "metric"};
inline constexpr std::array<std::string_view, 6> kRevisionNames = {
    "priority", "gpus", "estimate", "total-work", "deadline", "hold"};

}  // namespace muster
