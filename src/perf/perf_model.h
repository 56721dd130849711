// How fast a job runs where. A rate of 1 means: as fast as its recorded duration assumes.
#pragma once

#include <memory>
#include <span>

#include "model/cluster_state.h"
#include "model/job_spec.h"

namespace muster {

// Where a job stands: what a rate may depend on.
struct Footing {
  int gpus = 0;
  int nodes = 1;
  int racks = 1;
  Symbol gpu_type = kNoSymbol;
  HostShare host;
  std::span<const JobSpec* const> neighbours;  // others on the same GPUs
};

class PerfModel {
 public:
  virtual ~PerfModel() = default;
  // Seconds of undisturbed run gained per second; positive for every footing a policy may choose.
  virtual double rate(const JobSpec& job, const Footing& footing) const = 0;
  // CPU cores and memory the job wants beside each GPU; zero where the model does not care.
  virtual HostShare wanted_host(const JobSpec& job) const {
    const double gpus = job.gpus > 0 ? job.gpus : 1;
    return {job.cpus / gpus, job.memory_gb / gpus};
  }
};

// Nodes and racks under a set of GPUs, and the type of its first node.
Footing footing_of(const ClusterState& cluster, const GpuSet& gpus, const HostShare& host);

}  // namespace muster
