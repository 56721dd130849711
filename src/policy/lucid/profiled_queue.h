// Lucid's profiler (ASPLOS'23) in front of a queue, on GPUs of the cluster that are kept for it. A
// job that is small enough runs there first, those with the fewest GPUs before others. A job that
// has not ended after a while leaves, keeps its work, and waits with all others; what was measured
// of it meanwhile says with which jobs it may be co-located from then on.
//
// It stands before another placement, which sees neither the GPUs that are kept nor the jobs there.
// A job that has never run has not been profiled. Nothing else is stored: the job's record says
// whether it has run.
#pragma once

#include <memory>
#include <vector>

#include "policy/placement.h"

namespace muster {

struct ProfiledQueueSettings {
  std::vector<NodeGpus> gpus;  // of the profiler
  Seconds limit = 200;
  int largest = 8;         // GPUs of the largest job that is profiled
  bool count_host = true;  // CPU cores and memory bind
  // The metrics with which it is measured, in percent, percent and MB. Without measurements, what
  // the performance model knows of the workload counts.
  Symbol gpu_util = kNoSymbol;
  Symbol memory_util = kNoSymbol;
  Symbol memory_mb = kNoSymbol;
};

// The policies before it must not preempt.
std::unique_ptr<PlacementPolicy> make_profiled_queue(ProfiledQueueSettings settings,
                                                     const ClusterSpec& cluster,
                                                     std::unique_ptr<PlacementPolicy> queue);

}  // namespace muster
