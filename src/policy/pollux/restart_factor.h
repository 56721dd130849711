// How much of a speed-up is left if a job has to restart for it (Pollux, OSDI 2021).
#pragma once

#include <algorithm>

#include "base/params.h"
#include "model/job.h"

namespace muster {

inline const ParamInfo kRestartCost{"restart", ParamKind::kReal, "30",
                                    "assumed cost in seconds of a change of GPUs", 0};

// The older a job and the fewer its restarts, the nearer to 1: a job that restarts often is left
// alone. A first start is no restart.
inline double restart_factor(const Job& job, Seconds now, Seconds cost) {
  if (job.first_start == kNever) return 1;
  const Seconds age = now - job.spec.submit;
  const int restarts = job.preemptions + job.resizes + job.restarts;
  return std::max(0.0, age - restarts * cost) / std::max(1e-9, age + cost);
}

}  // namespace muster
