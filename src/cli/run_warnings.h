// What a command says at its end about its runs: how jobs were read, and where figures do not mean
// what they seem to.
#pragma once

#include <vector>

#include "report/metrics.h"
#include "report/run_info.h"

namespace muster {

struct FinishedRun {
  const RunInfo* info;
  const RunSummary* summary;
};

// Prints each note and warning once, with the runs that it is about where not all share it.
void warn_about(const std::vector<FinishedRun>& runs);

}  // namespace muster
