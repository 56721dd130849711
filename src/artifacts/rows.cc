#include "artifacts/rows.h"

#include "artifacts/elasticflow/gathered_pacing.h"

namespace muster {

std::vector<PolicyInfo<SchedulingPolicy>> artifact_scheduling_rows() { return {}; }

std::vector<PolicyInfo<PlacementPolicy>> artifact_placement_rows() { return {}; }

std::vector<PacingInfo> artifact_pacing_rows() { return {gathered_pacing()}; }

std::vector<PerfInfo> artifact_perf_rows() { return {}; }

}  // namespace muster
