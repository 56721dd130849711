// Artifacts: what exists only to repeat a published simulator digit for digit. One folder per
// system; a folder knows nothing of the others, and no other module but run/ includes this one.
//
// Each function lists the rows that artifacts add to one table of plug-ins.
// run/config/plugin_tables.h puts them behind the general rows of policy/, engine/, backend/ and
// perf/. To add one: write it in its system's folder, with its row at the end of the file, and name
// the row in rows.cc.
//
// The names of policies end in "-as-coded"; where there is a general one of the same name, it is as
// meant.
#pragma once

#include <vector>

#include "backend/sim/progress_table.h"
#include "engine/accounting.h"
#include "engine/execution.h"
#include "engine/pacing.h"
#include "policy/table.h"
#include "workload/perf/models.h"

namespace muster {

std::vector<PolicyInfo<SchedulingPolicy>> artifact_scheduling_rows();
std::vector<PolicyInfo<PlacementPolicy>> artifact_placement_rows();
std::vector<PacingInfo> artifact_pacing_rows();
std::vector<ProgressInfo> artifact_progress_rows();
std::vector<AccountingInfo> artifact_accounting_rows();
std::vector<ExecutionInfo> artifact_execution_rows();
std::vector<PerfInfo> artifact_perf_rows();

}  // namespace muster
