// The performance model `goodput`: measured applications, trained at the best batch size.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/symbols.h"
#include "perf/perf_model.h"
#include "perf/training.h"

namespace muster {

// Trainings by the model of their jobs. With `adapted`, the batch size follows the GPUs and the
// progress of the training; otherwise it is that of the job. `folder` is where the measurements
// come from, for messages; empty: none was named, and every job is refused.
std::unique_ptr<PerfModel> make_goodput_model(std::map<Symbol, Training> trainings, bool adapted,
                                              const std::string& folder);

}  // namespace muster
