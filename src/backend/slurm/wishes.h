// What a user's job says about its nodes (-p, -C, -w, -x, -N, --ntasks-per-node), in the words in
// which a job of ours can say it: a partition, a GPU type, a number of nodes. A wish that cannot be
// said so is not ignored: the job is left alone, and told why.
#pragma once

#include <functional>
#include <string>

#include "backend/slurm/rows.h"
#include "backend/slurm/slurm_cluster.h"

namespace muster {

struct NodeWishes {
  std::string partition;
  std::string gpu_type;  // empty: any
  int max_nodes = 0;     // 0: any
  std::string unfit;     // why they cannot be kept; empty: they can
};

// `free` says how many GPUs of a node are free now: of several partitions the job gets the one with
// most of those that it could use.
NodeWishes node_wishes(const SlurmJob& job, const SlurmCluster& cluster,
                       const std::function<int(NodeId)>& free);

}  // namespace muster
