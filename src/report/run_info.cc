#include "report/run_info.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace muster {
namespace {

std::string setting(const RunInfo& run, std::string_view name) {
  const auto found = std::find_if(run.settings.begin(), run.settings.end(),
                                  [name](const auto& entry) { return entry.first == name; });
  return found == run.settings.end() ? std::string() : found->second;
}

}  // namespace

bool comparable(const std::vector<const RunInfo*>& runs) {
  // As describe_run() calls what decides the jobs and the machines.
  constexpr std::array<std::string_view, 5> kNames = {"trace", "workload", "arrivals", "jobs",
                                                      "cluster"};
  return std::all_of(kNames.begin(), kNames.end(), [&](std::string_view name) {
    return std::all_of(runs.begin(), runs.end(), [&](const RunInfo* run) {
      return setting(*run, name) == setting(*runs.front(), name);
    });
  });
}

}  // namespace muster
