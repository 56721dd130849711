// Speeds from measured tables: iterations per second by model, global batch size and GPU count.
//
// A folder holds one CSV file per model, `<model>.csv`, with the column `global_batch_size` and one
// column per GPU count; a cell that is empty, 0 or `nan` was not possible. The global batch stays
// the same whatever the GPU count, so a job's work is its iterations. This is the form of the
// ElasticFlow artifact. What a spread over nodes costs is in the measurements; to make it worse,
// multiply with the model `locality`.
#pragma once

#include <memory>
#include <string>

#include "base/symbols.h"
#include "perf/perf_model.h"

namespace muster {

// How far a job may be stretched.
enum class CurveCap {
  kPeak,  // to the smallest count at which it is fastest
  kA100,  // as the ElasticFlow artifact says for its A100 tables
  kT4,    // and for its T4 tables
  kNone,  // over all that was measured
};

Result<std::unique_ptr<PerfModel>> make_throughput_tables(const std::string& folder, CurveCap cap,
                                                          Symbols& symbols);

}  // namespace muster
