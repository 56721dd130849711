// A small scheduler of the tests' own: it tells an observer a true story (decisions, placements,
// turns and job ends that fit together) without the engine, so that the report is tested against
// its contract alone.
#pragma once

#include <cstdint>
#include <vector>

#include "base/symbols.h"
#include "model/record.h"

namespace muster {

struct FakeRun {
  int jobs = 200;
  int nodes = 4;
  int gpus_per_node = 8;
  double mean_gap = 120;  // seconds between submits
  std::uint32_t seed = 1;
  bool shortest_first = false;  // preemptive shortest remaining time, instead of strict first come
  int refuse_every = 0;         // every n-th job asks for more than the cluster has
  bool whole_seconds = true;
};

// Plays the run to its end and returns the record of every job in order of leaving.
std::vector<JobRecord> play(const FakeRun& run, Symbols& symbols, Observer& observer);

}  // namespace muster
