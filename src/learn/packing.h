// The packing analyze model of Lucid (Hu et al., ASPLOS'23): from what a profiler measures of a job
// alone (mixed precision, GPU and memory utilisation, GPU memory) to its sharing score: 0 a light
// neighbour, 1 a noticeable one, 2 a heavy one. A pruned decision tree, so that an operator can
// read it. A score costs one walk from the root to a leaf; training as in learn/tree.h.
#pragma once

#include <span>
#include <vector>

#include "learn/tree.h"
#include "perf/perf_model.h"

namespace muster {

// The score of a workload by its mean speed when co-located with each other one: below 0.85 heavy,
// below 0.95 noticeable.
int share_score(double mean_co_located_speed);

Result<DecisionTree> train_packing(std::span<const WorkloadProfile> profiles,
                                   const std::vector<int>& scores, const TreeOptions& options);
int packing_score(const DecisionTree& tree, const WorkloadProfile& profile);

}  // namespace muster
