#include "artifacts/rows.h"

#include "artifacts/blox/every_stop.h"
#include "artifacts/blox/waits.h"
#include "artifacts/elasticflow/gathered_pacing.h"
#include "artifacts/elasticflow/throughput_caps.h"
#include "artifacts/gavel/deadline_count.h"
#include "artifacts/gavel/fluid_run.h"
#include "artifacts/gavel/lease_backend.h"
#include "artifacts/gavel/lease_pacing.h"
#include "artifacts/lucid/countdown.h"
#include "artifacts/lucid/profiled_wait.h"
#include "artifacts/muri/merged_events_pacing.h"
#include "artifacts/muri/recharge_backend.h"
#include "artifacts/tiresias/steps_pacing.h"

namespace muster {

PolicyInfo<SchedulingPolicy> published_elasticflow_row();
PolicyInfo<SchedulingPolicy> published_edf_row();
PolicyInfo<SchedulingPolicy> published_gandiva_row();
PolicyInfo<SchedulingPolicy> published_tiresias_row();
PolicyInfo<SchedulingPolicy> published_themis_row();
PolicyInfo<SchedulingPolicy> pollux_as_coded_row();
PolicyInfo<SchedulingPolicy> chronus_as_coded_row();
PolicyInfo<SchedulingPolicy> qssf_as_coded_row();
PolicyInfo<SchedulingPolicy> srtf_quota_as_coded_row();
PolicyInfo<SchedulingPolicy> tiresias_quota_as_coded_row();
PolicyInfo<SchedulingPolicy> gavel_as_coded_row();
PolicyInfo<SchedulingPolicy> themis_in_steps_row();
std::vector<PolicyInfo<SchedulingPolicy>> tiresias_scheduling_rows();

PolicyInfo<PlacementPolicy> blox_placement_row();
PolicyInfo<PlacementPolicy> yarn_as_coded_row();
PolicyInfo<PlacementPolicy> antman_as_coded_row();
PolicyInfo<PlacementPolicy> packing_as_coded_row();

PerfInfo optimus_speed_as_coded_row();

std::vector<PolicyInfo<SchedulingPolicy>> artifact_scheduling_rows() {
  std::vector<PolicyInfo<SchedulingPolicy>> rows = tiresias_scheduling_rows();
  for (auto& row : blox_scheduling_rows()) rows.push_back(std::move(row));
  for (const auto& row :
       {qssf_as_coded_row, srtf_quota_as_coded_row, tiresias_quota_as_coded_row, gavel_as_coded_row,
        themis_in_steps_row, published_elasticflow_row, published_edf_row, published_gandiva_row,
        published_tiresias_row, published_themis_row, pollux_as_coded_row, chronus_as_coded_row}) {
    rows.push_back(row());
  }
  return rows;
}

std::vector<PolicyInfo<PlacementPolicy>> artifact_placement_rows() {
  return {blox_placement_row(), yarn_as_coded_row(), antman_as_coded_row(), packing_as_coded_row()};
}

std::vector<PacingInfo> artifact_pacing_rows() {
  return {gathered_pacing(), lease_pacing(), merged_events_pacing(), steps_pacing()};
}

std::vector<ProgressInfo> artifact_progress_rows() {
  return {countdown_progress(), lease_progress(), recharged_progress()};
}

std::vector<AccountingInfo> artifact_accounting_rows() {
  return {every_stop_accounting(), completion_time_deadlines(), profiled_wait_twice()};
}

std::vector<ExecutionInfo> artifact_execution_rows() { return {fluid_execution()}; }

std::vector<PerfInfo> artifact_perf_rows() {
  return {throughput_tables_as_coded_row(), optimus_speed_as_coded_row()};
}

}  // namespace muster
