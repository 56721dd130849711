// Launches by the nodes that they are on: those on some of these GPUs are found by looking at these
// nodes alone.
#pragma once

#include <cstdint>
#include <vector>

#include "model/gpu_set.h"
#include "model/run_id.h"

namespace muster {

class RunsByNode {
 public:
  void add(RunId run, const GpuSet& gpus) {
    for (int i = 0; i < gpus.nodes(); ++i) {
      const std::size_t node = index(gpus[i].node);
      if (nodes_.size() <= node) nodes_.resize(node + 1);
      nodes_[node].push_back({run, gpus[i].mask});
    }
  }
  void remove(RunId run, const GpuSet& gpus) {
    for (int i = 0; i < gpus.nodes(); ++i) {
      std::erase_if(nodes_[index(gpus[i].node)],
                    [run](const Part& part) { return part.run == run; });
    }
  }
  bool any_on(const GpuSet& gpus) const {
    bool any = false;
    each_on(gpus, [&any](RunId) { any = true; });
    return any;
  }
  // One that shares several nodes with these GPUs is named several times.
  template <typename Visit>
  void each_on(const GpuSet& gpus, const Visit& visit) const {
    for (int i = 0; i < gpus.nodes(); ++i) {
      const std::size_t node = index(gpus[i].node);
      if (node >= nodes_.size()) continue;
      for (const Part& part : nodes_[node]) {
        if ((part.mask & gpus[i].mask) != 0) visit(part.run);
      }
    }
  }

 private:
  struct Part {
    RunId run;
    std::uint64_t mask;
  };
  std::vector<std::vector<Part>> nodes_;
};

}  // namespace muster
