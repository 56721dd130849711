// Reads measured curves: iterations per second by model, global batch size and GPU count.
//
// A folder holds one CSV file per model, `<model>.csv`, with the column `global_batch_size` and one
// column per GPU count; a cell that is empty, 0 or `nan` was not possible. This is the form
// of the ElasticFlow artifact. perf/curve_model.h makes speeds of it.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
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

Result<std::unique_ptr<PerfModel>> load_throughput_tables(const std::string& folder, CurveCap cap,
                                                          Symbols& symbols);

}  // namespace muster
