// The description of a daemon: policies as in a simulation, and the GPUs that there are.
#pragma once

#include <string>
#include <vector>

#include "cli/run_options.h"
#include "run/assembly/live_plan.h"

namespace muster {

struct ServePlan {
  RunOptions run;       // of which the policies count
  int fake_gpus = 0;    // 0: those of this machine
  std::string shape;    // what was found
  std::string cluster;  // or the whole of it, as a cluster file
};

void add_plan_options(CLI::App& command, ServePlan& plan);
// Looks for GPUs; the error says how to do without.
Status find_cluster(ServePlan& plan);
// `safe`: first come, first served, whatever was chosen.
Result<LivePlan> live_plan_of(const ServePlan& plan, bool safe);

}  // namespace muster
