// The constraints of a user's job on its nodes (-p, -C, -w, -x, -N, --ntasks-per-node), translated
// into what a job of Muster can require: a partition, a GPU type, a number of nodes. A constraint
// that cannot be translated is not ignored: the job is left alone, with the reason.
#pragma once

#include <functional>
#include <string>

#include "backend/slurm/rows.h"
#include "backend/slurm/slurm_cluster.h"

namespace muster {

struct NodeConstraints {
  std::string partition;
  std::string gpu_type;  // empty: any
  int max_nodes = 0;     // 0: any
  std::string unfit;     // why they cannot be kept; empty: they can
};

// `free` says how many GPUs of a node are free now: of several partitions the job gets the one with
// most of those that it could use.
NodeConstraints node_constraints(const SlurmJob& job, const SlurmCluster& cluster,
                                 const std::function<int(NodeId)>& free);

}  // namespace muster
