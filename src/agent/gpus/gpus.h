// The GPUs of this machine, through NVML. The library comes with NVIDIA's driver and is loaded when
// it is asked for: nothing here is needed to build.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace muster {

struct GpuInfo {
  int index = 0;
  std::string name;  // "NVIDIA H200"
  double memory_bytes = 0;
};

// What a GPU is doing; negative where it does not say.
struct GpuUse {
  int index = 0;
  double busy = -1;          // part of the time in which a kernel ran
  double memory_bytes = -1;  // in use
  double watts = -1;
};

// Empty where the driver finds none. The error says why they cannot be looked for.
Result<std::vector<GpuInfo>> find_gpus();
std::vector<GpuUse> look_at_gpus();

// A short name for policies and tables: "NVIDIA A100-SXM4-80GB" is a100-sxm4-80gb.
std::string gpu_type_of(const std::string& name);

}  // namespace muster
