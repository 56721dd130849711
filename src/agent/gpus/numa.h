// Which processors are near a GPU, as the kernel says under /sys: those of its NUMA node.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

// "0-3,8" is 0 1 2 3 8; empty for a text that is no such list.
std::vector<int> parse_cpu_list(std::string_view text);

// The processors of the NUMA node of a PCI device, in order; empty where the machine has one node
// alone, or does not say.
std::vector<int> cpus_near(const std::string& pci, const std::filesystem::path& sys = "/sys");

// For ranks to be pinned to: for each GPU of this machine the processors near it that this process
// may use itself. Empty where there is nothing to choose.
std::vector<std::vector<int>> cpus_near_gpus(const std::vector<std::string>& pcis,
                                             const std::filesystem::path& sys = "/sys");
// The processors near any of `gpus`; empty, which is all of them, where one is near none.
std::vector<int> cpus_near_all(const std::vector<std::vector<int>>& by_gpu,
                               const std::vector<int>& gpus);

}  // namespace muster
