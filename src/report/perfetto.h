// A run as a trace that ui.perfetto.dev and chrome://tracing open: a group per node, a slice per
// job and stretch of running, and counters of used GPUs and waiting jobs.
#pragma once

#include <string>

#include "base/result.h"
#include "report/result_reader.h"

namespace muster {

// Writes next to `path` and moves the file there when it is complete; an older one is replaced.
Status write_perfetto(const ResultFolder& result, const std::string& path);

}  // namespace muster
