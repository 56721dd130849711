// Selection: changing the policy while the cluster runs. A selector looks into the near future
// under each candidate combination and picks one.
#pragma once

#include <cstddef>
#include <memory>

#include "policy/view.h"

namespace muster {

// What would happen if one combination ruled from now on, without new arrivals.
struct Prediction {
  long long finished = 0;
  double sum_completion_time = 0;  // of the jobs that finish, from their submission
  double sum_progress = 0;         // over jobs active at the end: fraction of work done
  double sum_slowdown = 0;  // over jobs still waiting: waiting time over undisturbed duration
  double mean_completion_time() const {
    return finished > 0 ? sum_completion_time / static_cast<double>(finished) : 0;
  }
};

class WhatIf {
 public:
  virtual ~WhatIf() = default;
  virtual std::size_t combinations() const = 0;
  // Forks the state and runs it for `horizon` seconds, or until no admitted job is left.
  virtual Prediction predict(std::size_t combination, Seconds horizon) = 0;
};

class Selector {
 public:
  virtual ~Selector() = default;
  // Called every turn; returns the combination to use from here on.
  virtual std::size_t select(const View& view, std::size_t current, WhatIf& what_if) = 0;
};

}  // namespace muster
