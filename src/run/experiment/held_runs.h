// Runs that others are compared with: each is made once, however many comparisons use it.
#pragma once

#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "run/experiment/experiment_observers.h"

namespace muster {

struct HeldAgainst {
  RunSummary summary;
  Completions times;
};
using Held = Result<std::shared_ptr<const HeldAgainst>>;

// Any number of threads may ask at once; the first to ask for a run makes it, the others wait.
class HeldRuns {
 public:
  // Null if it was stopped.
  Held of(const RunConfig& config, const std::function<bool()>& keep_going);

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_future<Held>> runs_;
};

}  // namespace muster
