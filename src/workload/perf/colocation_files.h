// Reads the two tables of co-location (perf/colocation.h); docs/lucid.md has their columns.
//
// The name of a workload is MODEL/DATASET/BATCH, and /amp with mixed precision
// ("ResNet18/CIFAR-10/64/amp"), as far as the tables have those columns; or the column `workload`
// alone. The model of a job must be that name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/symbols.h"
#include "perf/colocation.h"

namespace muster {

struct ColocationFiles {
  std::string profiles;  // path; empty: no workload is known
  std::string pairs;     // path; empty: every pair is estimated
  // Models whose pairs run undisturbed, by the part of their name before the first slash.
  std::vector<std::string> undisturbed;
  bool complete = false;  // a pair of known workloads that is not in the table is an error
};

Result<std::unique_ptr<PerfModel>> load_colocation(const ColocationFiles& files,
                                                   const ColocationOptions& options,
                                                   Symbols& symbols);

}  // namespace muster
