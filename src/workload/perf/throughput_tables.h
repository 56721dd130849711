// Reads measured curves: iterations per second by model, global batch size and GPU count.
//
// A folder holds one CSV file per model, `<model>.csv`, with the column `global_batch_size` and one
// column per GPU count; a cell that is empty, 0 or `nan` was not possible. This is the form
// of the ElasticFlow artifact. perf/curve_model.h makes speeds of it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/symbols.h"
#include "perf/perf_model.h"
#include "perf/throughput_curve.h"

namespace muster {

// How far a job may be stretched: the largest GPU count for elastic policies, by model, global
// batch size and what was measured of them.
using CurveCap = int (*)(std::string_view model, int batch, const ThroughputCurve& curve);
// To the smallest count at which it is fastest.
int cap_at_peak(std::string_view model, int batch, const ThroughputCurve& curve);
// Over all that was measured.
int cap_at_widest(std::string_view model, int batch, const ThroughputCurve& curve);

Result<std::unique_ptr<PerfModel>> load_throughput_tables(const std::string& folder, CurveCap cap,
                                                          Symbols& symbols);

}  // namespace muster
