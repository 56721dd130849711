// The policies that decide together, from their names: those of the tables, and those that a loader
// knows (run/config/policy_loader.h).
#pragma once

#include "base/result.h"
#include "engine/engine.h"
#include "run/config/config.h"

namespace muster {

// `symbols` must outlive the policies.
Result<PolicySet> make_policy_set(const PolicySetConfig& chosen, const PolicyLoader* loader,
                                  const Symbols& symbols);

}  // namespace muster
