// The description of a daemon: policies as in a simulation, and the GPUs that there are.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agent/gpus/gpus.h"
#include "cli/run_options.h"
#include "daemon/outside/process_loader.h"
#include "run/assembly/live_plan.h"

namespace muster {

struct ServePlan {
  RunOptions run;             // of which the policies count
  int fake_gpus = 0;          // 0: those of this machine
  std::vector<GpuInfo> gpus;  // those, where they are not pretended
  std::string shape;          // what was found
  std::string cluster;        // or the whole of it, as a cluster file
  double policy_seconds = 2;
  std::shared_ptr<PolicyHosts> hosts;  // of policies written in Python
};

void add_plan_options(CLI::App& command, ServePlan& plan);
// Looks for GPUs; the error says how to do without.
Status find_cluster(ServePlan& plan);
// `safe`: first come, first served, whatever was chosen.
Result<LivePlan> live_plan_of(const ServePlan& plan, bool safe);

}  // namespace muster
