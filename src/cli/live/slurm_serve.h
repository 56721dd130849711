// `muster serve --executor slurm`: the cluster and the executor of some partitions of Slurm.
#pragma once

#include <string>
#include <vector>

#include "cli/live/serve_plan.h"
#include "daemon/daemon.h"

namespace CLI {
class App;
}

namespace muster {

struct SlurmServe {
  std::vector<std::string> partitions;
};

void add_slurm_options(CLI::App& command, SlurmServe& options);
// Finds the nodes of the partitions for the plan, and gives the daemon an executor for them, unless
// it is to be a shadow.
Status use_slurm(const SlurmServe& options, bool shadow, ServePlan& plan, DaemonSettings& settings);

}  // namespace muster
