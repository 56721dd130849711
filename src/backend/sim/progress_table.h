// The table of progress models: how simulated jobs get their work done. Each row makes a simulated
// backend; the choice of a run is `progress` in its description.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "backend/sim/node_life.h"
#include "base/params.h"
#include "engine/backend.h"
#include "engine/pacing.h"
#include "perf/restart_cost.h"

namespace muster {

// What a simulated backend is made of.
struct SimParts {
  std::shared_ptr<const ClusterSpec> cluster;
  std::shared_ptr<const PerfModel> perf;
  std::shared_ptr<const RestartCost> cost = std::make_shared<const RestartCost>();
  FailureOptions failures = {};
};

struct ProgressInfo {
  std::string_view name;
  std::string_view sentence;
  std::string_view source;  // paper or system, year; may be empty
  ParamList params;
  // `pacing` is that of the run.
  std::unique_ptr<Backend> (*make)(const Params&, SimParts, const Pacing& pacing);
  std::string_view pacing = {};  // the only one that it works with; empty: any
  bool with_life = false;        // commands may take time and fail ([life])
};

const std::vector<ProgressInfo>& progress_table();

// Seconds that a job pays before it works after this command.
Seconds start_cost(const Command& command, const RestartCost& cost);

}  // namespace muster
