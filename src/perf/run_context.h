// Run context: what a rate may depend on.
#pragma once

#include <span>

#include "model/cluster_state.h"
#include "model/job_spec.h"

namespace muster {

struct RunContext {
  int gpus = 0;
  int nodes = 1;
  int racks = 1;
  Symbol gpu_type = kNoSymbol;
  HostResources host;
  std::span<const JobSpec* const> neighbours;  // others on the same GPUs
  bool joined = false;                         // they were there first
  bool opportunistic = false;                  // it only gets what they leave idle
};

// Nodes and racks under a set of GPUs, and the type of its first node.
RunContext run_context_of(const ClusterState& cluster, const GpuSet& gpus,
                          const HostResources& host);

}  // namespace muster
