// A performance model from a measured table: steps per second of a job on each GPU type, alone or
// co-located with another (perf/throughput_table.h).
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "base/symbols.h"
#include "perf/perf_model.h"
#include "perf/throughput_estimate.h"

namespace muster {

// `reference` is the GPU type whose rate makes the recorded durations of jobs.
Result<std::unique_ptr<PerfModel>> make_throughputs(const std::string& path,
                                                    const std::string& reference, Symbols& symbols);

// The same with estimated speeds of pairs: a belief, not the truth (perf/throughput_estimate.h).
Result<std::unique_ptr<PerfModel>> make_estimated_throughputs(const std::string& path,
                                                              const std::string& reference,
                                                              const EstimateOptions& options,
                                                              Symbols& symbols);

}  // namespace muster
