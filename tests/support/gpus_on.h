#pragma once

#include "model/gpu_set.h"

namespace muster {

/// Some GPUs of one node; bit i of the mask is GPU i.
inline GpuSet gpus_on(std::uint32_t node, std::uint64_t mask) {
  GpuSet gpus;
  gpus.add(NodeId{node}, mask);
  return gpus;
}

}  // namespace muster
