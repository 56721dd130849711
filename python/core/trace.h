// Jobs in memory, and where they came from if they are still the same.
#pragma once

#include <memory>
#include <optional>

#include "run/assembly/jobs.h"

namespace muster::python {

struct TraceJobs {
  std::shared_ptr<const SharedJobs> jobs;
  // The description that yields the same jobs again; none once they were changed.
  std::optional<WorkloadConfig> origin;
};

// The jobs of a complete workload section, read or drawn while Ctrl-C is looked for. The
// interpreter must be held.
std::shared_ptr<const SharedJobs> load_watched(const WorkloadConfig& workload);

}  // namespace muster::python
