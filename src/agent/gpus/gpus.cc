#include "agent/gpus/gpus.h"

#include <cstdlib>
#include <filesystem>
#include <unistd.h>

#include <fmt/format.h>

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
struct NvmlPci {
  char legacy_id[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char id[32];
};

std::string_view search_path() {
  const char* const path = std::getenv("PATH");
  return path == nullptr ? "" : path;
}

struct Nvml {
  SharedLibrary library{nvml_files(search_path()), "the NVIDIA driver"};
  int (*init)() = library.function("nvmlInit_v2");
  int (*count)(unsigned*) = library.function("nvmlDeviceGetCount_v2");
  int (*device)(unsigned, NvmlDevice*) = library.function("nvmlDeviceGetHandleByIndex_v2");
  int (*pci)(NvmlDevice, NvmlPci*) = library.function("nvmlDeviceGetPciInfo_v3");
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
      NvmlPci pci = {};
      if (nvml().device(i, &device) != 0) continue;
      nvml().name(device, name, sizeof name);
      nvml().memory(device, &memory);
      GpuInfo& gpu = found.emplace_back();
      gpu.index = static_cast<int>(i);
      gpu.name = name;
      gpu.memory_bytes = static_cast<double>(memory.total);
      if (nvml().pci(device, &pci) == 0) {
        gpu.pci = fmt::format("{:04x}:{:02x}:{:02x}.0", pci.domain, pci.bus, pci.device);
      }
    }
  } catch (const MissingLibrary&) {
    return Error{
        "this machine has no NVIDIA driver (libnvidia-ml.so.1, looked for on the loader's path and "
        "beside nvidia-smi)"};
  }
  return found;
}

std::vector<GpuUse> look_at_gpus() {
  std::vector<GpuUse> uses;
  const auto gpus = find_gpus();
  if (!gpus) return uses;
  for (const GpuInfo& gpu : *gpus) {
    GpuUse& use = uses.emplace_back();
    use.gpu = gpu;
    NvmlDevice device = nullptr;
    if (nvml().device(static_cast<unsigned>(gpu.index), &device) != 0) continue;
    NvmlUtilization busy = {};
    NvmlMemory memory = {};
    unsigned milliwatts = 0;
    if (nvml().use(device, &busy) == 0) {
      use.busy = busy.gpu / 100.0;
      use.memory_busy = busy.memory / 100.0;
    }
    if (nvml().memory(device, &memory) == 0) use.memory_bytes = static_cast<double>(memory.used);
    if (nvml().power(device, &milliwatts) == 0) use.watts = milliwatts / 1000.0;
  }
  return uses;
}

std::vector<GpuUse> GpuGauge::read() {
  const std::lock_guard lock(mutex_);
  if (const auto now = std::chrono::steady_clock::now(); now >= next_) {
    last_ = look_at_gpus();
    next_ = now + std::chrono::seconds(1);
  }
  return last_;
}

std::vector<std::string> nvml_files(std::string_view path) {
  constexpr const char* kLibrary = "libnvidia-ml.so.1";
  std::vector<std::string> files = {kLibrary};
  std::vector<std::string_view> folders = split(path, ':');
  folders.emplace_back("/usr/local/nvidia/bin");  // where containers have the driver mounted
  for (const std::string_view folder : folders) {
    const std::filesystem::path program = std::filesystem::path(folder) / "nvidia-smi";
    if (folder.empty() || access(program.c_str(), X_OK) != 0) continue;
    // The driver's own folder is where the program is, not where a link to it is.
    std::error_code code;
    const std::filesystem::path real = std::filesystem::canonical(program, code).parent_path();
    for (const char* const beside : {"../lib64", "../lib", "../lib/x86_64-linux-gnu", "."}) {
      files.push_back((real / beside / kLibrary).lexically_normal().string());
    }
  }
  return files;
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
