// A saved run, put back to be asked, without going on.
#pragma once

#include <memory>
#include <string>

#include "run/assembly/simulation.h"
#include "run/whatif/change.h"

namespace muster {

class SavedState {
 public:
  // The description is in the file; the workload that it names must still be there.
  static Result<std::unique_ptr<SavedState>> open(const std::string& file);

  EngineWorld world() const { return engine_->world(); }
  OutlookParts parts() const;
  Symbols& symbols() { return simulation_->symbols(); }
  const RunConfig& config() const { return config_; }
  // The policies of the run, some of them replaced; empty choices stay as they are.
  Result<std::shared_ptr<const PolicySet>> policies_with(const PolicySetConfig& others) const;

 private:
  RunConfig config_;
  std::unique_ptr<Simulation> simulation_;
  Engine* engine_ = nullptr;
};

// How wrong the beliefs of a described run are: `given` (as in log-normal:sigma=1), else what the
// description says of its estimates, else log-normal. Null where the run knows the truth and
// nothing is given: there is nothing to be wrong about.
Result<std::function<std::unique_ptr<ErrorModel>(int)>> errors_of(const RunConfig& config,
                                                                  const std::string& given,
                                                                  const Symbols& symbols);

}  // namespace muster
