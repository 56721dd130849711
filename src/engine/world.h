// A world that an engine can continue from: the jobs with their accounts, and which jobs run where.
// It does not hold the past, so the policies' own state is not in it. A daemon makes a world from
// its store and a census; a what-if question makes one from a running engine.
#pragma once

#include <vector>

#include "model/job.h"
#include "model/job_metrics.h"

namespace muster {

// A job whose start failed, and when it may be tried again.
struct WorldBackOff {
  JobId job = kNoJob;
  Seconds until = 0;
};

// Dollars for what a job held up to its present run.
struct WorldCost {
  JobId job = kNoJob;
  double dollars = 0;
};

struct WorldNode {
  NodeId node = kNoNode;
  bool up = true;
  bool drained = false;
  bool removed = false;           // for good
  std::uint64_t broken_gpus = 0;  // by bit
};

struct EngineWorld {
  Seconds now = 0;
  std::uint32_t next_id = 0;  // of the next job that comes
  // By id. Their states are kSubmitted (admission has not answered), kQueued, kRunning or
  // kPreempted; those that run hold `gpus`. Where they live, and the ring of jobs that share GPUs,
  // are found anew: jobs with the same GPUs share them.
  std::vector<Job> jobs;
  std::vector<JobId> on_hold;  // of those that are kSubmitted, the jobs that a person keeps there
  std::vector<WorldBackOff> back_offs;  // of those that wait
  std::vector<WorldCost> costs;         // only where GPUs have prices; a job without one: nothing
  std::vector<JobMetric> metrics;       // the latest of those that policies see
  std::vector<WorldNode> nodes;         // those that are not simply up; the others are as described
};

}  // namespace muster
