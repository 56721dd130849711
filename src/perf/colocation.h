// The speed of co-located jobs, from two tables: the profile of each workload alone, and the speeds
// of pairs of co-located workloads. Both are inputs; docs/lucid.md has their columns. A pair that
// was not measured gets a documented estimate from the two GPU utilisations.
//
// The model of a job must be the name of its workload: MODEL/DATASET/BATCH, and /amp with mixed
// precision ("ResNet18/CIFAR-10/64/amp"), as far as the tables have those columns; or by
// the column `workload` alone.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/symbols.h"
#include "perf/perf_model.h"

namespace muster {

struct ColocationOptions {
  std::string profiles;  // path; empty: no workload is known
  std::string pairs;     // path; empty: every pair is estimated
  // Models whose pairs run undisturbed, by the part of their name before the first slash.
  std::vector<std::string> undisturbed;
  bool estimate_missing =
      true;  // false: a pair of known workloads that is not in the table is an error
  // The estimate: 1 - slope * max(0, sum of utilisations - spare), at least `slowest`.
  double slope = 0.0028;
  double spare = 80;
  double slowest = 0.1;
  double unknown_loss = 0.3;  // part of the speed lost to a neighbour without a profile
};

Result<std::unique_ptr<PerfModel>> make_colocation(const ColocationOptions& options,
                                                   Symbols& symbols);

}  // namespace muster
