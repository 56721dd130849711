// While it lives, a cluster shows only those free GPUs that can have the CPU cores and memory of
// one request beside them: any search for GPUs is then bound by both, without knowing of them.
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
  HostLimit(HostLimit&& other) noexcept
      : cluster_(other.cluster_), hidden_(std::exchange(other.hidden_, {})) {}
  HostLimit& operator=(HostLimit&&) = delete;
  ~HostLimit() {
    for (const NodeGpus& gpus : hidden_) cluster_->show(gpus.node, gpus.mask);
  }

 private:
  ClusterState* cluster_ = nullptr;
  std::vector<NodeGpus> hidden_;
};

}  // namespace muster
