// A performance model out of a measured table: how many steps per second a job makes on each GPU
// type, alone or beside a neighbour (perf/throughput_table.h).
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "base/symbols.h"
#include "perf/perf_model.h"

namespace muster {

// `reference` is the GPU type whose rate makes the recorded durations of jobs.
Result<std::unique_ptr<PerfModel>> make_throughputs(const std::string& path,
                                                    const std::string& reference, Symbols& symbols);

}  // namespace muster
