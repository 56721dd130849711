// Selection: changing the policy while the cluster runs. A selector looks into the near future
// under each candidate policy set and picks one.
#pragma once

#include <cstddef>
#include <memory>

#include "base/archive.h"
#include "policy/needs.h"
#include "policy/view.h"

namespace muster {

// What would happen if one policy set ruled from now on, without new arrivals.
struct Prediction {
  long long finished = 0;
  double sum_completion_time = 0;  // of the jobs that finish, from their submission
  double sum_progress = 0;         // over jobs active at the end: fraction of work done
  double sum_slowdown = 0;   // over jobs still waiting: waiting time over undisturbed duration
  long long unfinished = 0;  // admitted jobs that are still there at the end
  double sum_age = 0;        // over those, from their submission to the end
  // Unfinished jobs count as if they ended with the horizon: finishing no job is not a merit.
  double mean_completion_time() const {
    const auto jobs = static_cast<double>(finished + unfinished);
    return jobs > 0 ? (sum_completion_time + sum_age) / jobs : 0;
  }
};

class WhatIf {
 public:
  virtual ~WhatIf() = default;
  virtual std::size_t policy_sets() const = 0;
  // Forks the state and runs it for `horizon` seconds, or until no admitted job is left.
  virtual Prediction predict(std::size_t policy_set, Seconds horizon) = 0;
};

class Selector {
 public:
  virtual ~Selector() = default;
  virtual Needs needs() const { return {}; }
  // Called every turn; returns the policy set to use from here on.
  virtual std::size_t select(const View& view, std::size_t current, WhatIf& what_if) = 0;
  // Writes or reads all that it remembers from one turn to the next (base/archive.h); false: a run
  // with it cannot be saved. One that remembers nothing returns true.
  virtual bool checkpoint(Archive&) { return false; }
  virtual std::unique_ptr<Selector> clone() const = 0;
};

}  // namespace muster
