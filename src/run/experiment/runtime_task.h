// A published time of a decision instead of a run: how long one allocation of time takes (Gavel's
// figure 12), and what splitting it into parts costs (POP).
//
// In an experiment a [[run]] has such a task instead of settings:
//
//   runtime = {policy = "gavel-max-min-fairness-perf", jobs = 2048, trials = 3,
//              throughputs = "shared:data/gavel/simulation_throughputs.json"}
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "run/config/toml.h"

namespace muster {

struct RuntimeTask {
  std::string throughputs;  // Gavel's table
  std::string policy;
  long long jobs = 0;
  long long trials = 3;
  long long parts = 1;
};

Result<RuntimeTask> read_runtime_task(const TomlNode& node, const std::string& where);

// Figures of a task: seconds, the mean over the trials; share_kept, with parts, of the mean
// throughput.
Status check_runtime_figure(std::string_view key);

Result<std::map<std::string, double, std::less<>>> run_runtime_task(const RuntimeTask& task);

}  // namespace muster
