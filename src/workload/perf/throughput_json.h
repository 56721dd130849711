// Measured training steps per second from the JSON tables that Gavel publishes:
//
//   {"v100": {"('ResNet-18 (batch size 16)', 1)":
//       {"null": 28.2, "('LM (batch size 5)', 1)": [12.3, 41.0]}}}
//
// A key is a job type with the number of GPUs it runs on; "null" is its rate alone, every other
// member the rates of a pair on the same GPUs: its own, then its neighbour's.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/symbols.h"
#include "perf/throughputs.h"

namespace muster {

Result<ThroughputTable> load_throughput_table(const std::string& path);
// `name` stands for the file in messages.
Result<ThroughputTable> parse_throughput_table(std::string_view json, const std::string& name);

// Performance models out of such a file; `reference` is the GPU type whose rate makes the recorded
// durations of jobs.
Result<std::unique_ptr<PerfModel>> load_throughputs(const std::string& path,
                                                    const std::string& reference, Symbols& symbols);
Result<std::unique_ptr<PerfModel>> load_estimated_throughputs(const std::string& path,
                                                              const std::string& reference,
                                                              const PairEstimateOptions& options,
                                                              Symbols& symbols);

}  // namespace muster
