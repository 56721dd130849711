// Everything a description can name, with the makers: for each kind of plug-in the general rows,
// then the rows of artifacts (artifacts/rows.h), then those of `--plugin`. The command line, TOML,
// the reference and the conformance tests see these tables; general modules see only their own.
#pragma once

#include <vector>

#include "backend/sim/progress_table.h"
#include "engine/accounting.h"
#include "engine/execution.h"
#include "engine/pacing.h"
#include "policy/table.h"
#include "workload/error_models.h"
#include "workload/perf/models.h"

namespace muster {

struct PluginTables {
  std::vector<PolicyInfo<AdmissionPolicy>> admission;
  std::vector<PolicyInfo<SchedulingPolicy>> scheduling;
  std::vector<PolicyInfo<PlacementPolicy>> placement;
  std::vector<PolicyInfo<Selector>> selector;
  std::vector<PolicyInfo<ScalingPolicy>> scaling;
  std::vector<PacingInfo> pacing;
  std::vector<ProgressInfo> progress;
  std::vector<AccountingInfo> accounting;
  std::vector<ExecutionInfo> execution;
  std::vector<PerfInfo> perf;
  std::vector<ErrorModelInfo> errors;
};

// Made when first asked for; policies from outside must have been loaded by then
// (run/config/policy_plugins.h).
const PluginTables& plugin_tables();
// The same, made anew.
PluginTables present_tables();

}  // namespace muster
