#include "artifacts/rows.h"

#include "artifacts/elasticflow/gathered_pacing.h"

namespace muster {

PolicyInfo<SchedulingPolicy> optimus_as_coded_row();
PolicyInfo<SchedulingPolicy> published_elasticflow_row();
PolicyInfo<SchedulingPolicy> published_edf_row();
PolicyInfo<SchedulingPolicy> published_gandiva_row();
PolicyInfo<SchedulingPolicy> published_tiresias_row();
PolicyInfo<SchedulingPolicy> published_themis_row();
PolicyInfo<SchedulingPolicy> pollux_as_coded_row();
PolicyInfo<SchedulingPolicy> chronus_as_coded_row();

PolicyInfo<PlacementPolicy> blox_placement_row();

std::vector<PolicyInfo<SchedulingPolicy>> artifact_scheduling_rows() {
  return {optimus_as_coded_row(),  published_elasticflow_row(), published_edf_row(),
          published_gandiva_row(), published_tiresias_row(),    published_themis_row(),
          pollux_as_coded_row(),   chronus_as_coded_row()};
}

std::vector<PolicyInfo<PlacementPolicy>> artifact_placement_rows() {
  return {blox_placement_row()};
}

std::vector<PacingInfo> artifact_pacing_rows() { return {gathered_pacing()}; }

std::vector<PerfInfo> artifact_perf_rows() { return {}; }

}  // namespace muster
