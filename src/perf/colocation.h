// The speed of co-located jobs, from two tables: the profile of each workload alone, and the speeds
// of pairs of co-located workloads. A pair that was not measured gets a documented estimate from
// the two GPU utilisations. workload/perf/colocation_files.h reads the tables.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <utility>

#include "base/symbols.h"
#include "perf/perf_model.h"

namespace muster {

// By the model of the jobs, which is the name of their workload.
struct ColocationTables {
  std::map<Symbol, WorkloadProfile> profiles;
  // The speeds of both, as parts of their speeds alone; a pair is there both ways round.
  std::map<std::pair<Symbol, Symbol>, std::pair<double, double>> pairs;
  std::set<Symbol> undisturbed;  // pairs with these run at full speed
};

struct ColocationOptions {
  // The estimate: 1 - slope * max(0, sum of utilisations - spare), at least `slowest`.
  double slope = 0.0028;
  double spare = 80;
  double slowest = 0.1;
  double unknown_loss = 0.3;  // part of the speed lost to a neighbour without a profile
};

std::unique_ptr<PerfModel> make_colocation(ColocationTables tables,
                                           const ColocationOptions& options);

}  // namespace muster
