#include "backend/sim/progress_table.h"

#include "backend/sim/sim_backend.h"

namespace muster {

const std::vector<ProgressInfo>& progress_table() {
  static const std::vector<ProgressInfo> kTable = {
      {"continuous",
       "work is done at a steady rate, and a job ends the moment it is done",
       "folklore",
       {},
       [](const Params&, SimParts parts, const Pacing&) -> std::unique_ptr<Backend> {
         return std::make_unique<SimBackend>(std::move(parts));
       },
       {},
       true},
  };
  return kTable;
}

Seconds start_cost(const Command& command, const RestartCost& cost) {
  if (command.kind == CommandKind::kAdopt) return 0;  // it runs already
  const bool again = command.resumed || command.kind != CommandKind::kStart;
  if (!again) return cost.first_start;
  return cost.restart_of(command.job->spec.model, command.context.gpus);
}

}  // namespace muster
