#include "agent/gpus/gpus.h"

#include "base/shared_library.h"
#include "base/text.h"

namespace muster {
namespace {

// NVML's own types, as far as they are used: handles are opaque, and 0 is success.
using NvmlDevice = void*;
struct NvmlMemory {
  unsigned long long total, free, used;
};
struct NvmlUtilization {
  unsigned gpu, memory;
};

struct Nvml {
  SharedLibrary library{{"libnvidia-ml.so.1"}, "the NVIDIA driver"};
  int (*init)() = library.function("nvmlInit_v2");
  int (*count)(unsigned*) = library.function("nvmlDeviceGetCount_v2");
  int (*device)(unsigned, NvmlDevice*) = library.function("nvmlDeviceGetHandleByIndex_v2");
  int (*name)(NvmlDevice, char*, unsigned) = library.function("nvmlDeviceGetName");
  int (*memory)(NvmlDevice, NvmlMemory*) = library.function("nvmlDeviceGetMemoryInfo");
  int (*use)(NvmlDevice, NvmlUtilization*) = library.function("nvmlDeviceGetUtilizationRates");
  int (*power)(NvmlDevice, unsigned*) = library.function("nvmlDeviceGetPowerUsage");
  int began = init();
};

// Loaded once and kept; the first caller pays.
const Nvml& nvml() {
  static const Nvml table;
  return table;
}

}  // namespace

Result<std::vector<GpuInfo>> find_gpus() {
  std::vector<GpuInfo> found;
  try {
    unsigned count = 0;
    if (nvml().began != 0 || nvml().count(&count) != 0) {
      return Error{"NVIDIA's driver is installed and does not answer: see `nvidia-smi`"};
    }
    for (unsigned i = 0; i < count; ++i) {
      NvmlDevice device = nullptr;
      char name[96] = {};
      NvmlMemory memory = {};
      if (nvml().device(i, &device) != 0) continue;
      nvml().name(device, name, sizeof name);
      nvml().memory(device, &memory);
      found.push_back({static_cast<int>(i), name, static_cast<double>(memory.total)});
    }
  } catch (const MissingLibrary&) {
    return Error{"this machine has no NVIDIA driver (libnvidia-ml.so.1)"};
  }
  return found;
}

std::vector<GpuUse> look_at_gpus() {
  std::vector<GpuUse> uses;
  const auto gpus = find_gpus();
  if (!gpus) return uses;
  for (const GpuInfo& gpu : *gpus) {
    GpuUse& use = uses.emplace_back();
    use.index = gpu.index;
    NvmlDevice device = nullptr;
    if (nvml().device(static_cast<unsigned>(gpu.index), &device) != 0) continue;
    NvmlUtilization busy = {};
    NvmlMemory memory = {};
    unsigned milliwatts = 0;
    if (nvml().use(device, &busy) == 0) use.busy = busy.gpu / 100.0;
    if (nvml().memory(device, &memory) == 0) use.memory_bytes = static_cast<double>(memory.used);
    if (nvml().power(device, &milliwatts) == 0) use.watts = milliwatts / 1000.0;
  }
  return uses;
}

std::string gpu_type_of(const std::string& name) {
  std::string type;
  for (const char letter : trim(name)) {
    if (letter >= 'A' && letter <= 'Z') {
      type += static_cast<char>(letter - 'A' + 'a');
    } else if ((letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9')) {
      type += letter;
    } else if (!type.empty() && type.back() != '-') {
      type += '-';
    }
  }
  if (type.starts_with("nvidia-")) type.erase(0, 7);
  return type;
}

}  // namespace muster
