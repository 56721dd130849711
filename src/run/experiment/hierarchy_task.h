// Gavel's figure 11 instead of a run: how water filling allocates nine GPUs to jobs of three
// entities of weights 1, 2 and 3, as its notebook draws them. Six jobs belong to each entity, the
// first come first; there are three GPUs of each type.
//
// In an experiment a [[run]] has such a task instead of settings:
//
//   hierarchy = {policy = "gavel-max-min-fairness-water-filling-perf", inner = "fairness",
//                rates = "measured", jobs = 12,
//                throughputs = "shared:data/gavel/simulation_throughputs.json"}
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "run/config/toml.h"

namespace muster {

struct HierarchyTask {
  std::string throughputs;  // Gavel's table
  std::string policy;
  std::string inner = "fairness";  // inside entities: jobs of priorities 1 and 2 share; or "fifo"
  std::string rates = "measured";  // of job types that are drawn; or "random"
  long long jobs = 1;              // 1 to 18
  bool one_level = false;          // as in the notebook, where no job rises after the first level
};

Result<HierarchyTask> read_hierarchy_task(const TomlNode& node, const std::string& where);

// Figures of a task: job.N, the throughput of a job as a part of what it would make on an average
// GPU all the time; total, of all jobs.
Status check_hierarchy_figure(std::string_view key);

Result<std::map<std::string, double, std::less<>>> run_hierarchy_task(const HierarchyTask& task);

}  // namespace muster
