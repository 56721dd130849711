#include "agent/gpus/numa.h"

#include <algorithm>
#include <sched.h>
#include <set>

#include <fmt/format.h>

#include "base/out_file.h"
#include "base/text.h"

namespace muster {
namespace {

constexpr std::int64_t kMostCpus = CPU_SETSIZE;  // processors beyond cannot be pinned to

std::string line_of(const std::filesystem::path& file) {
  const Result<std::string> text = read_file(file.string());
  return text ? std::string(trim(*text)) : "";
}

bool may_use(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return true;
  return CPU_ISSET(static_cast<std::size_t>(cpu), &set) != 0;
}

}  // namespace

std::vector<int> parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  for (const std::string_view part : split(trim(text), ',')) {
    const std::size_t dash = part.find('-');
    const auto first = parse_integer(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_integer(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last >= kMostCpus) return {};
    for (std::int64_t cpu = *first; cpu <= *last; ++cpu) cpus.push_back(static_cast<int>(cpu));
  }
  return cpus;
}

std::vector<int> cpus_near(const std::string& pci, const std::filesystem::path& sys) {
  const std::filesystem::path nodes = sys / "devices/system/node";
  if (pci.empty() || parse_cpu_list(line_of(nodes / "online")).size() < 2) return {};
  // -1, and a machine that has forgotten, mean that it does not know.
  const auto node = parse_integer(line_of(sys / "bus/pci/devices" / pci / "numa_node"));
  if (!node || *node < 0) return {};
  return parse_cpu_list(line_of(nodes / fmt::format("node{}", *node) / "cpulist"));
}

std::vector<std::vector<int>> cpus_near_gpus(const std::vector<std::string>& pcis,
                                             const std::filesystem::path& sys) {
  std::vector<std::vector<int>> by_gpu;
  bool any = false;
  for (const std::string& pci : pcis) {
    std::vector<int>& cpus = by_gpu.emplace_back(cpus_near(pci, sys));
    std::erase_if(cpus, [](int cpu) { return !may_use(cpu); });
    any = any || !cpus.empty();
  }
  if (!any) by_gpu.clear();
  return by_gpu;
}

std::vector<int> cpus_near_all(const std::vector<std::vector<int>>& by_gpu,
                               const std::vector<int>& gpus) {
  std::set<int> cpus;
  for (const int gpu : gpus) {
    const auto at = static_cast<std::size_t>(gpu);
    if (at >= by_gpu.size() || by_gpu[at].empty()) return {};
    cpus.insert(by_gpu[at].begin(), by_gpu[at].end());
  }
  return {cpus.begin(), cpus.end()};
}

}  // namespace muster
