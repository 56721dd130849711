// Refused jobs, told in sentences: a run that turns away more than a few of its jobs is not the run
// that was meant, and its averages are over the others.
#pragma once

#include <string>
#include <vector>

#include "report/metrics.h"
#include "report/run_info.h"

namespace muster {

// More than three, or more than one in a hundred.
bool many_refused(const Metrics& metrics);

// One sentence for each reason, most jobs first, with what can be done about it; none unless many
// were refused.
std::vector<std::string> refusal_warnings(const RunInfo& info, const RunSummary& summary);

}  // namespace muster
