// The GPUs of this machine, through NVML. The library comes with NVIDIA's driver and is loaded when
// it is asked for: nothing here is needed to build.
#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster {

struct GpuInfo {
  int index = 0;
  std::string name;  // "NVIDIA H200"
  double memory_bytes = 0;
  std::string pci;  // its address as /sys spells it, "0000:3b:00.0"; empty where it is not told
};

// What a GPU is doing; negative where it does not say.
struct GpuUse {
  GpuInfo gpu;
  double busy = -1;          // part of the time in which a kernel ran
  double memory_busy = -1;   // part of the time in which memory was read or written
  double memory_bytes = -1;  // in use
  double watts = -1;
};

// Empty where the driver finds none. The error says why they cannot be looked for.
Result<std::vector<GpuInfo>> find_gpus();
std::vector<GpuUse> look_at_gpus();

// What they are doing, for any number of callers: the driver is asked once a second at most.
class GpuGauge {
 public:
  std::vector<GpuUse> read();

 private:
  std::mutex mutex_;
  std::chrono::steady_clock::time_point next_{};
  std::vector<GpuUse> last_;
};

// A short name for policies and tables: "NVIDIA A100-SXM4-80GB" is a100-sxm4-80gb.
std::string gpu_type_of(const std::string& name);

// Where the driver's library may be: on the loader's path, else beside `nvidia-smi`, which is
// looked for in the folders of `path` (a list with colons).
std::vector<std::string> nvml_files(std::string_view path);

}  // namespace muster
