// The tables of built-in policies. To add a policy: write its file, with its row at the end, and
// name the row here, once to declare it and once in its table.
#include "policy/table.h"

namespace muster {

PolicyInfo<AdmissionPolicy> accept_all_row();
PolicyInfo<AdmissionPolicy> load_threshold_row();
PolicyInfo<AdmissionPolicy> deadline_admission_row();

PolicyInfo<SchedulingPolicy> fifo_row();
PolicyInfo<SchedulingPolicy> sjf_row();
PolicyInfo<SchedulingPolicy> srtf_row();
PolicyInfo<SchedulingPolicy> srsf_row();
PolicyInfo<SchedulingPolicy> dlas_row();
PolicyInfo<SchedulingPolicy> multi_dlas_row();
PolicyInfo<SchedulingPolicy> gittins_row();
PolicyInfo<SchedulingPolicy> shortest_expected_row();
PolicyInfo<SchedulingPolicy> longest_pending_row();
PolicyInfo<SchedulingPolicy> themis_row();
PolicyInfo<SchedulingPolicy> antman_row();
PolicyInfo<SchedulingPolicy> muri_row();
PolicyInfo<SchedulingPolicy> las_row();
PolicyInfo<SchedulingPolicy> tiresias_row();
PolicyInfo<SchedulingPolicy> optimus_row();
PolicyInfo<SchedulingPolicy> proportional_row();
PolicyInfo<SchedulingPolicy> max_min_row();
PolicyInfo<SchedulingPolicy> finish_time_fairness_row();
PolicyInfo<SchedulingPolicy> qssf_row();
PolicyInfo<SchedulingPolicy> lucid_row();
PolicyInfo<SchedulingPolicy> least_gpus_row();
PolicyInfo<SchedulingPolicy> srtf_quota_row();
PolicyInfo<SchedulingPolicy> tiresias_quota_row();
PolicyInfo<SchedulingPolicy> edf_row();
PolicyInfo<SchedulingPolicy> elasticflow_row();
PolicyInfo<SchedulingPolicy> pollux_row();
PolicyInfo<SchedulingPolicy> sia_row();
PolicyInfo<SchedulingPolicy> chronus_row();
std::vector<PolicyInfo<SchedulingPolicy>> gavel_rows();

PolicyInfo<PlacementPolicy> as_planned_row();
PolicyInfo<PlacementPolicy> local_search_row();
PolicyInfo<PlacementPolicy> consolidated_row();
PolicyInfo<PlacementPolicy> first_gpu_row();
PolicyInfo<PlacementPolicy> scattered_row();
PolicyInfo<PlacementPolicy> profile_guided_row();
PolicyInfo<PlacementPolicy> bebop_row();
PolicyInfo<PlacementPolicy> synergy_row();
PolicyInfo<PlacementPolicy> count_row();
PolicyInfo<PlacementPolicy> yarn_row();
PolicyInfo<PlacementPolicy> buddy_row();
PolicyInfo<PlacementPolicy> whole_nodes_row();
PolicyInfo<PlacementPolicy> consolidate_first_row();
PolicyInfo<PlacementPolicy> random_placement_row();
PolicyInfo<PlacementPolicy> random_gpus_row();
PolicyInfo<PlacementPolicy> consolidated_random_row();
PolicyInfo<PlacementPolicy> balance_row();
PolicyInfo<PlacementPolicy> greedy_row();
PolicyInfo<PlacementPolicy> antman_placement_row();
PolicyInfo<PlacementPolicy> packing_row();

PolicyInfo<Selector> look_ahead_row();

PolicyInfo<ScalingPolicy> energy_saving_row();
PolicyInfo<ScalingPolicy> spare_under_backlog_row();

const std::vector<PolicyInfo<AdmissionPolicy>>& admission_table() {
  static const std::vector<PolicyInfo<AdmissionPolicy>> kTable = {
      accept_all_row(),
      load_threshold_row(),
      deadline_admission_row(),
  };
  return kTable;
}

namespace {

std::vector<PolicyInfo<SchedulingPolicy>> with_gavel(
    std::vector<PolicyInfo<SchedulingPolicy>> rows) {
  for (PolicyInfo<SchedulingPolicy>& row : gavel_rows()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace

const std::vector<PolicyInfo<SchedulingPolicy>>& scheduling_table() {
  static const std::vector<PolicyInfo<SchedulingPolicy>> kTable = with_gavel({
      fifo_row(),
      sjf_row(),
      srtf_row(),
      srsf_row(),
      dlas_row(),
      multi_dlas_row(),
      gittins_row(),
      shortest_expected_row(),
      longest_pending_row(),
      themis_row(),
      antman_row(),
      muri_row(),
      las_row(),
      tiresias_row(),
      optimus_row(),
      proportional_row(),
      max_min_row(),
      finish_time_fairness_row(),
      qssf_row(),
      lucid_row(),
      least_gpus_row(),
      srtf_quota_row(),
      tiresias_quota_row(),
      edf_row(),
      elasticflow_row(),
      pollux_row(),
      sia_row(),
      chronus_row(),
  });
  return kTable;
}

const std::vector<PolicyInfo<PlacementPolicy>>& placement_table() {
  static const std::vector<PolicyInfo<PlacementPolicy>> kTable = {
      as_planned_row(),
      local_search_row(),
      consolidated_row(),
      first_gpu_row(),
      scattered_row(),
      profile_guided_row(),
      bebop_row(),
      synergy_row(),
      count_row(),
      yarn_row(),
      buddy_row(),
      whole_nodes_row(),
      consolidate_first_row(),
      random_placement_row(),
      random_gpus_row(),
      consolidated_random_row(),
      balance_row(),
      greedy_row(),
      antman_placement_row(),
      packing_row(),
  };
  return kTable;
}

const std::vector<PolicyInfo<Selector>>& selector_table() {
  static const std::vector<PolicyInfo<Selector>> kTable = {
      look_ahead_row(),
  };
  return kTable;
}

const std::vector<PolicyInfo<ScalingPolicy>>& scaling_table() {
  static const std::vector<PolicyInfo<ScalingPolicy>> kTable = {
      energy_saving_row(),
      spare_under_backlog_row(),
  };
  return kTable;
}

}  // namespace muster
