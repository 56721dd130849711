// A world that an engine can continue from: the jobs with their accounts, and which jobs run where.
// It does not hold the past, so the policies' own state is not in it. A daemon makes a world from
// its store and a census; a what-if question makes one from a running engine.
#pragma once

#include <vector>

#include "model/job.h"

namespace muster {

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
  // kPreempted; those that run hold `gpus`. Where they live, and the ring of those who share GPUs,
  // are found anew: jobs with the same GPUs share them.
  std::vector<Job> jobs;
  std::vector<JobId> on_hold;    // of those that are kSubmitted, who a person keeps there
  std::vector<WorldNode> nodes;  // those that are not simply up; the others are as described
};

}  // namespace muster
