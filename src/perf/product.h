// Several performance models at once: their rates multiply.
#pragma once

#include <memory>
#include <vector>

#include "perf/perf_model.h"

namespace muster {

// The product of several models; of none, everything runs at rate 1.
std::unique_ptr<PerfModel> multiply(std::vector<std::unique_ptr<PerfModel>> models);

}  // namespace muster
