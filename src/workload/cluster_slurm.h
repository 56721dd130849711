// Clusters as Slurm describes its nodes: the output of `scontrol show node`, with -o or without; of
// `sinfo -N -o "%N|%G|%c|%m|%P|%T"`; of `sinfo --json`.
//
// A node of Slurm may be in several partitions, one of ours is in one: where partitions overlap,
// nodes are open to every job, unless a partition is chosen.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/symbols.h"
#include "model/cluster_spec.h"

namespace muster {

struct SlurmNodes {
  ClusterSpec cluster;
  std::vector<std::string> notes;  // what a user should know: nodes that are down, or left out
};

// By the first bytes of a file.
bool is_slurm_nodes(std::string_view content);

// Only the nodes of `partition`, where it is not empty. `name` stands for the file in messages.
Result<SlurmNodes> parse_slurm_nodes(std::string_view content, const std::string& name,
                                     const std::string& partition, Symbols& symbols);

}  // namespace muster
