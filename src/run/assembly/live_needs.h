// Whether submitted jobs can provide what policies need to know. It is checked before there is any
// job, so it considers what a submission may say and what the performance model knows.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/symbols.h"
#include "run/assembly/needs_check.h"

namespace muster {

// One sentence for each need: how a submission meets it, or that nothing here does, what the policy
// does instead and what would help. The error names a need that nothing meets and without which a
// policy refuses to run.
Result<std::vector<std::string>> live_needs(std::span<const NeedyPolicy> policies,
                                            const KnownInputs& inputs, const Symbols& symbols);

}  // namespace muster
