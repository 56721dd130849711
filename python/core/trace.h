// Jobs in memory, and where they came from if they are still the same.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include "run/assembly/jobs.h"

namespace muster::python {

namespace nb = nanobind;

struct TraceJobs {
  std::shared_ptr<const SharedJobs> jobs;
  // The description that yields the same jobs again; none once they were changed.
  std::optional<WorkloadConfig> origin;
  std::vector<std::string> notes = {};  // besides those of the jobs
};

// The jobs of a complete workload section, read or drawn while Ctrl-C is looked for and `progress`,
// unless it is None, told how many there are. The interpreter must be held.
std::shared_ptr<const SharedJobs> load_watched(const WorkloadConfig& workload,
                                               nb::object progress = nb::none());

}  // namespace muster::python
