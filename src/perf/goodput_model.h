// The performance model `goodput`: measured applications, trained at the best batch size.
#pragma once

#include <memory>
#include <string>

#include "perf/perf_model.h"

namespace muster {

// `folder` holds one folder per application (perf/training.h). With `adapted`, the batch size
// follows the GPUs and the progress of the training; otherwise it is that of the job.
Result<std::unique_ptr<PerfModel>> make_goodput_model(const std::string& folder, bool adapted,
                                                      Symbols& symbols);

}  // namespace muster
