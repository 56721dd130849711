// Searches for free GPUs that several placement rules share.
#pragma once

#include "model/cluster_state.h"
#include "model/plan.h"

namespace muster {

// One node: the one with fewest free GPUs that still has enough, the lowest of several. False if
// none.
bool find_tightest_node(const ClusterState& cluster, std::span<const PoolId> pools, int gpus,
                        GpuSet& found);

// As few nodes as possible: the fullest-free first, then the tightest that holds the remainder.
bool find_fewest_nodes(const ClusterState& cluster, std::span<const PoolId> pools, int gpus,
                       GpuSet& found);

// The lowest-numbered free GPUs, whatever node they are on.
bool find_first_gpus(const ClusterState& cluster, std::span<const PoolId> pools, int gpus,
                     GpuSet& found);

// As many nodes as possible: one GPU at a time from the nodes with most free.
bool find_most_nodes(const ClusterState& cluster, std::span<const PoolId> pools, int gpus,
                     GpuSet& found);

// Up to a node's size: the tightest node. Beyond: whole free nodes, and for what is left over the
// emptiest node that remains; nothing else will do (Helios' and Lucid's rule).
bool find_whole_nodes(const ClusterState& cluster, std::span<const PoolId> pools, int gpus,
                      GpuSet& found);

// Whether that search could ever find so many GPUs for the job, with the CPU cores and memory that
// it asks for beside them.
bool whole_nodes_exist(const ClusterState& cluster, const JobSpec& job, int gpus);

}  // namespace muster
