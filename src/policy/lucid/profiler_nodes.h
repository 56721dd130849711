// The two halves of Lucid's borrowed profiling node (ASPLOS'23, space-aware profiling): the
// profiler takes a spare node while jobs pile up, and the virtual cluster it borrows from gives one
// away and gets it back at the same moments.
#pragma once

#include <memory>
#include <vector>

#include "policy/scaling.h"

namespace muster {

struct ProfilerScaling {
  std::size_t long_queue = 10;  // more waiting jobs than this bring a spare node in
  std::size_t short_queue = 5;  // fewer let it go
  Seconds check_in = 10;        // seconds between looks at the queue
  Seconds check_out = 100;      // and between looks at the forecast
  double quiet_gpus = 40;       // GPUs per slot, forecast on average, at which a node can go
  int slots = 5;                // slots of the forecast that are looked at
};

// Brings in one spare node under backlog and returns it when it idles and little is forecast.
std::unique_ptr<ScalingPolicy> make_profiler_scaling(const ProfilerScaling& options);

struct ScalingEvent {
  Seconds time = 0;
  bool borrowed = true;  // the profiler took a node; false: it gave the node back
};

// The donor: gives its highest-numbered idle node when one is borrowed (none if all are busy), gets
// a new one at the end of its list when it comes back. The cluster needs a spare node per return.
std::unique_ptr<ScalingPolicy> make_donor_scaling(std::vector<ScalingEvent> events);

}  // namespace muster
