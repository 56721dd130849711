// The parts of a run that decide, from its description: performance models, restart costs, pacing
// and policies. A simulation and the live service are put together from the same ones.
#pragma once

#include <memory>
#include <vector>

#include "base/symbols.h"
#include "engine/engine.h"
#include "perf/restart_cost.h"
#include "run/config/config.h"

namespace muster {

// The product of the models that the description names.
Result<std::shared_ptr<const PerfModel>> make_perf(const std::vector<Choice>& choices,
                                                   Symbols& symbols);
std::shared_ptr<const RestartCost> make_cost(const RestartConfig& config, Symbols& symbols);
Result<std::unique_ptr<Pacing>> make_pacing(const RunConfig& config);
// Policy sets, selector, scaling and forecast. `symbols` must
// outlive the policies.
Status add_policies(const RunConfig& config, const Symbols& symbols, Engine::Parts& parts);

}  // namespace muster
