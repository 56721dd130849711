// Parts of make_outside_scheduling(): rounds by GPU type, and the rule for policies that fail.
#pragma once

#include <memory>

#include "policy/outside/outside_policies.h"

namespace muster {

// Fractions of time by GPU type, in Gavel's rounds (policy/gavel/rounds.h).
std::unique_ptr<SchedulingPolicy> make_outside_rounds(Outside policy, OnFailure rule);

// The same policy; where it throws PolicyFailure, plan_without_policy() decides.
std::unique_ptr<SchedulingPolicy> fall_back_from(std::unique_ptr<SchedulingPolicy> policy);

}  // namespace muster
