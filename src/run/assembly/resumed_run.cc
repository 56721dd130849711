// Saved runs that are restored to answer questions.
#include "run/assembly/simulation.h"

namespace muster {

Result<Engine*> Simulation::resume(const std::string& file) {
  fresh_ = clone_parts();
  fresh_.cluster = cluster_;
  fresh_.perf = parts_.perf;
  digest_jobs();
  auto execution = start();
  if (!execution) return execution.error();
  resumed_ = std::move(*execution);
  Engine* const engine = resumed_->engine();
  if (engine == nullptr) return Error{file + " cannot be asked: its run has no engine"};
  if (Status put = continue_run(file, *engine, config_, *digested_, {}); !put) return put.error();
  return engine;
}

}  // namespace muster
