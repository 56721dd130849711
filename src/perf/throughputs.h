// A performance model from a measured table: steps per second of a job on each GPU type, alone or
// co-located with another (perf/throughput_table.h).
#pragma once

#include <memory>

#include "base/symbols.h"
#include "perf/perf_model.h"
#include "perf/throughput_estimate.h"
#include "perf/throughput_table.h"

namespace muster {

// `reference` is the GPU type whose rate makes the recorded durations of jobs, by its position in
// the table.
std::unique_ptr<PerfModel> make_throughputs(ThroughputTable table, int reference, Symbols& symbols);

// The same with estimated speeds of pairs: a belief, not the truth (perf/throughput_estimate.h).
std::unique_ptr<PerfModel> make_estimated_throughputs(ThroughputTable table, int reference,
                                                      const PairEstimateOptions& options,
                                                      Symbols& symbols);

}  // namespace muster
