// Policies whose answers come from outside the tree (respondent.h), as the engine sees them.
//
// A simulation ends where such a policy fails. A live cluster goes on, by rules that need no
// policy:
//   scheduling  running jobs continue, and the others start in order of arrival
//   fractions by type, in rounds: every job has an equal part of every type
//   placement   as few nodes as possible
//   admission   every job is accepted
// and the policy is asked again when something is to be decided next.
#pragma once

#include <memory>
#include <optional>

#include "policy/admission.h"
#include "policy/outside/respondent.h"
#include "policy/placement.h"
#include "policy/scheduling.h"

namespace muster {

enum class OnFailure { kEndRun, kFallBack };

// A respondent as a value: a copy is a copy of the policy.
class Outside {
 public:
  explicit Outside(std::unique_ptr<Respondent> respondent) : respondent_(std::move(respondent)) {}
  Outside(const Outside& other) : respondent_(other.respondent_->copy()) {}
  Outside(Outside&&) = default;
  Outside& operator=(const Outside&) = delete;
  Outside& operator=(Outside&&) = default;
  ~Outside() = default;
  Respondent* operator->() const { return respondent_.get(); }

 private:
  std::unique_ptr<Respondent> respondent_;
};

std::unique_ptr<SchedulingPolicy> make_outside_scheduling(Outside policy, OnFailure rule);
std::unique_ptr<AdmissionPolicy> make_outside_admission(Outside policy, OnFailure rule);
std::unique_ptr<PlacementPolicy> make_outside_placement(Outside policy, OnFailure rule);

// What runs as it runs, then the others in order of arrival; in plans that do not preempt only the
// others.
void plan_without_policy(const View& view, bool preemptive, Plan& plan);

}  // namespace muster
