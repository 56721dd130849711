#include "learn/packing.h"

#include <array>

#include <fmt/format.h>

namespace muster {
namespace {

// The four features of Lucid's packing analyzer, in the order of train_packing().
std::array<double, 4> row_of(const WorkloadProfile& profile) {
  return {profile.mixed_precision ? 1.0 : 0.0, profile.gpu_util, profile.memory_util,
          profile.memory_mb};
}

}  // namespace

// Lucid's sharing score, by thresholds on the mean normalised speed of co-located workloads: below
// 0.85 a heavy neighbour, below 0.95 a noticeable one.
int share_score(double mean_co_located_speed) {
  if (mean_co_located_speed < 0.85) return 2;
  return mean_co_located_speed < 0.95 ? 1 : 0;
}

// Profiles are few, one for each kind of workload: a pruned tree does not fit their noise, and each
// of its answers is a path that can be read.
Result<DecisionTree> train_packing(std::span<const WorkloadProfile> profiles,
                                   const std::vector<int>& scores, const TreeOptions& options) {
  if (profiles.size() != scores.size() || profiles.empty()) {
    return Error{
        fmt::format("packing: {} profiles and {} scores; as many of each, and at least one, "
                    "are needed",
                    profiles.size(), scores.size())};
  }
  std::vector<std::vector<double>> columns(4);
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    if (scores[i] < 0 || scores[i] > 2) {
      return Error{
          fmt::format("packing: score {} of row {}; expected 0, 1 or 2", scores[i], i + 1)};
    }
    const std::array<double, 4> row = row_of(profiles[i]);
    for (std::size_t f = 0; f < row.size(); ++f) columns[f].push_back(row[f]);
  }
  const FeatureSet features(
      {{"amp", false, {}}, {"gpu_util", false, {}}, {"gmem_util", false, {}}, {"gmem", false, {}}});
  // A small tree on utilisation and memory, as Lucid's packing analyzer.
  auto tree = train_tree(features, columns, scores, {"light", "noticeable", "heavy"}, options);
  if (tree) tree->target = "share_score";
  return tree;
}

int packing_score(const DecisionTree& tree, const WorkloadProfile& profile) {
  return tree.predict(row_of(profile));
}

}  // namespace muster
