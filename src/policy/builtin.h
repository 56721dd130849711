// The makers behind the table of built-in policies: one per policy, each defined in its own file.
#pragma once

#include "policy/table.h"

namespace muster {

std::unique_ptr<AdmissionPolicy> make_accept_all(const Params&);
std::unique_ptr<AdmissionPolicy> make_load_threshold(const Params&);
std::unique_ptr<AdmissionPolicy> make_deadline_admission(const Params&);

std::unique_ptr<SchedulingPolicy> make_fifo(const Params&);
std::unique_ptr<SchedulingPolicy> make_sjf(const Params&);
std::unique_ptr<SchedulingPolicy> make_srtf(const Params&);
std::unique_ptr<SchedulingPolicy> make_srsf(const Params&);
std::unique_ptr<SchedulingPolicy> make_dlas(const Params&);
std::unique_ptr<SchedulingPolicy> make_muri(const Params&);
std::unique_ptr<SchedulingPolicy> make_antman(const Params&);
std::unique_ptr<SchedulingPolicy> make_themis(const Params&);
std::unique_ptr<SchedulingPolicy> make_gittins(const Params&);
std::unique_ptr<SchedulingPolicy> make_shortest_expected(const Params&);
std::unique_ptr<SchedulingPolicy> make_longest_pending(const Params&);
std::unique_ptr<SchedulingPolicy> make_multi_dlas(const Params&);
std::unique_ptr<SchedulingPolicy> make_gandiva(const Params&);
std::unique_ptr<SchedulingPolicy> make_las(const Params&);
std::unique_ptr<SchedulingPolicy> make_tiresias(const Params&);
std::unique_ptr<SchedulingPolicy> make_optimus(const Params&);
std::unique_ptr<SchedulingPolicy> make_proportional(const Params&);
std::unique_ptr<SchedulingPolicy> make_max_min(const Params&);
std::unique_ptr<SchedulingPolicy> make_finish_time_fairness(const Params&);

std::unique_ptr<SchedulingPolicy> make_srtf_quota(const Params&);
std::unique_ptr<SchedulingPolicy> make_tiresias_quota(const Params&);
std::unique_ptr<SchedulingPolicy> make_qssf(const Params&);
std::unique_ptr<SchedulingPolicy> make_lucid(const Params&);
std::unique_ptr<SchedulingPolicy> make_least_gpus(const Params&);

// Gavel's policies: allocators in rounds.
std::vector<PolicyInfo<SchedulingPolicy>> gavel_rows();

std::unique_ptr<SchedulingPolicy> make_edf(const Params&);
std::unique_ptr<SchedulingPolicy> make_elasticflow(const Params&);
std::unique_ptr<SchedulingPolicy> make_published_elasticflow(const Params&);
std::unique_ptr<SchedulingPolicy> make_published_edf(const Params&);
std::unique_ptr<SchedulingPolicy> make_published_gandiva(const Params&);
std::unique_ptr<SchedulingPolicy> make_published_tiresias(const Params&);
std::unique_ptr<SchedulingPolicy> make_published_themis(const Params&);

std::unique_ptr<SchedulingPolicy> make_pollux(const Params&);
std::unique_ptr<SchedulingPolicy> make_pollux_as_coded(const Params&);

std::unique_ptr<SchedulingPolicy> make_sia(const Params&);
std::unique_ptr<SchedulingPolicy> make_chronus(const Params&);
std::unique_ptr<SchedulingPolicy> make_chronus_as_coded(const Params&);

std::unique_ptr<PlacementPolicy> make_as_planned(const Params&);
std::unique_ptr<PlacementPolicy> make_local_search(const Params&);
std::unique_ptr<PlacementPolicy> make_buddy(const Params&);
std::unique_ptr<PlacementPolicy> make_consolidated(const Params&);
std::unique_ptr<PlacementPolicy> make_first_gpu(const Params&);
std::unique_ptr<PlacementPolicy> make_scattered(const Params&);
std::unique_ptr<PlacementPolicy> make_profile_guided(const Params&);
std::unique_ptr<PlacementPolicy> make_bebop(const Params&);
std::unique_ptr<PlacementPolicy> make_synergy(const Params&);
std::unique_ptr<PlacementPolicy> make_yarn(const Params&);
std::unique_ptr<PlacementPolicy> make_count(const Params&);
std::unique_ptr<PlacementPolicy> make_antman_placement(const Params&);
std::unique_ptr<PlacementPolicy> make_consolidated_random(const Params&);
std::unique_ptr<PlacementPolicy> make_random_gpus(const Params&);
std::unique_ptr<PlacementPolicy> make_balance(const Params&);
std::unique_ptr<PlacementPolicy> make_greedy(const Params&);
std::unique_ptr<PlacementPolicy> make_blox_placement(const Params&);

std::unique_ptr<PlacementPolicy> make_whole_nodes(const Params&);
std::unique_ptr<PlacementPolicy> make_consolidate_first(const Params&);
std::unique_ptr<PlacementPolicy> make_random_placement(const Params&);
std::unique_ptr<PlacementPolicy> make_packing(const Params&);

std::unique_ptr<Selector> make_look_ahead(const Params&);

std::unique_ptr<ScalingPolicy> make_energy_saving(const Params&);
std::unique_ptr<ScalingPolicy> make_spare_under_backlog(const Params&);

}  // namespace muster
