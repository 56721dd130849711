// While an object of this class lives, a cluster shows only those free GPUs for which the node also
// has the CPU cores and memory of one request, and that are not kept for other jobs. So every
// search for GPUs respects these limits without knowing them.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "model/cluster_state.h"

namespace muster {

class HostLimit {
 public:
  HostLimit() = default;
  HostLimit(ClusterState& cluster, std::span<const PoolId> pools, const HostResources& host);
  // Hides these, as far as they are free.
  HostLimit(ClusterState& cluster, std::span<const NodeGpus> kept);
  HostLimit(HostLimit&& other) noexcept
      : cluster_(other.cluster_), hidden_(std::exchange(other.hidden_, {})) {}
  HostLimit& operator=(HostLimit&&) = delete;
  bool hides() const { return !hidden_.empty(); }
  ~HostLimit() {
    for (const NodeGpus& gpus : hidden_) cluster_->show(gpus.node, gpus.mask);
  }

 private:
  ClusterState* cluster_ = nullptr;
  std::vector<NodeGpus> hidden_;
};

}  // namespace muster
