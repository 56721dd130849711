// How the speed of well-known models depends on CPU cores per GPU, from the published profiles of
// Synergy (OSDI'22): speed relative to three cores per GPU, a fair share on its machines.
#pragma once

#include <memory>

#include "base/symbols.h"
#include "perf/perf_model.h"

namespace muster {

std::unique_ptr<PerfModel> make_cpu_profiles(Symbols& symbols);

}  // namespace muster
