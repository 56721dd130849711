#include "report/refusals.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "report/units.h"

namespace muster {
namespace {

// "'reserch' (did you mean 'research'?)" for partitions of jobs that the cluster does not have.
std::string unknown_partitions(const RunInfo& info, const RunSummary& summary) {
  constexpr std::size_t kMostNamed = 3;
  const std::vector<std::string_view> known(info.partitions.begin(), info.partitions.end());
  std::vector<std::string> named;
  std::size_t unknown = 0;
  for (const GroupRow& row : summary.partitions) {
    const bool nameless = row.name.empty();  // refused for another reason
    if (row.refused == 0 || nameless ||
        std::find(known.begin(), known.end(), row.name) != known.end())
      continue;
    if (++unknown > kMostNamed) continue;
    const auto near = nearest(row.name, known);
    named.push_back(near ? fmt::format("'{}' (did you mean '{}'?)", row.name, *near)
                         : fmt::format("'{}'", row.name));
  }
  if (unknown > kMostNamed) named.push_back(fmt::format("{} more", unknown - kMostNamed));
  return fmt::format("{}", fmt::join(named, ", "));
}

std::string listed(const std::vector<std::string>& names, std::string_view none) {
  return names.empty() ? std::string(none) : fmt::format("{}", fmt::join(names, ", "));
}

std::string why(Reason reason, const RunInfo& info, const RunSummary& summary) {
  switch (reason) {
    case Reason::kNoPartition:
      return fmt::format(
          "the cluster does not have their partition: {}. It has {}; name the partitions in the "
          "cluster file as the trace does, or use a cluster without partitions",
          unknown_partitions(info, summary), listed(info.partitions, "none"));
    case Reason::kNoGpuType:
      return fmt::format(
          "they ask for a GPU type that their part of the cluster does not have. Its types: {}; "
          "name them in the cluster as the trace does, as in --cluster 16x8:v100",
          listed(info.gpu_types, "none is named"));
    case Reason::kNeverFits:
      return "they ask for more than their part of the cluster will ever have, or the scheduling "
             "policy never wanted them to run, not even on an idle cluster. `muster trace check "
             "TRACE --cluster CLUSTER` lists those that are too large; for them choose a larger "
             "cluster or another placement";
    case Reason::kNotEnoughCpu:
      return "they ask for more CPU cores or memory with their GPUs than the nodes have. Correct "
             "the "
             "cluster file, or ignore cores and memory with --ignore-host";
    case Reason::kUnknownSpeed:
      return "the performance model does not know them. A note names the first; add what is "
             "missing "
             "to its table, or choose another model with --perf";
    case Reason::kLoadLimit:
      return "the load was above the threshold of the admission policy. Choose another threshold, "
             "or --admission accept-all";
    case Reason::kDeadlineImpossible:
    case Reason::kSlotTooLong:
      return fmt::format("{}. The averages are over the others; --admission accept-all lets all in",
                         reason_sentence(reason));
    default:
      return std::string(reason_sentence(reason));
  }
}

}  // namespace

bool many_refused(const Metrics& metrics) {
  constexpr double kFew = 3;
  constexpr double kSmallPart = 0.01;
  return metrics.refused > kFew || metrics.refused > kSmallPart * metrics.jobs;
}

std::vector<std::string> refusal_warnings(const RunInfo& info, const RunSummary& summary) {
  std::vector<std::string> warnings;
  if (!many_refused(summary.metrics)) return warnings;
  std::vector<DecisionCount> refusals;
  for (const DecisionCount& row : summary.decisions) {
    if (row.action == Action::kRefuse) refusals.push_back(row);
  }
  std::stable_sort(
      refusals.begin(), refusals.end(),
      [](const DecisionCount& a, const DecisionCount& b) { return a.count > b.count; });
  for (const DecisionCount& row : refusals) {
    warnings.push_back(fmt::format("{} of {} jobs were refused: {}", count_text(row.count),
                                   count_text(summary.metrics.jobs),
                                   why(row.reason, info, summary)));
  }
  return warnings;
}

}  // namespace muster
