// Speeds from measured curves: iterations per second by model, global batch size and GPU count.
//
// The global batch stays the same whatever the GPU count, so a job's work is its iterations. What a
// spread over nodes costs is in the measurements; to make it worse, multiply with the model
// `locality`.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/symbols.h"
#include "perf/perf_model.h"
#include "perf/throughput_curve.h"

namespace muster {

struct MeasuredCurves {
  struct Model {
    std::string name;
    std::map<int, ThroughputCurve> by_batch;
  };
  std::string folder;  // for messages; empty: none was named, and every job is refused
  std::map<Symbol, Model> models;
};

std::unique_ptr<PerfModel> make_curve_model(MeasuredCurves measured);

}  // namespace muster
