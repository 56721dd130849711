// What a policy may look at: the time, the active jobs with their progress and history, the
// cluster, and how fast jobs would run. It cannot tell whether time is real.
#pragma once

#include "model/cluster_state.h"
#include "model/job_metrics.h"
#include "model/job_table.h"
#include "model/prices.h"
#include "perf/forecast.h"
#include "perf/perf_model.h"

namespace muster {

class DeadlineBook;

struct View {
  Seconds now = 0;
  Seconds turn_length = 0;  // of fixed rounds, slots or ticks; 0 when turns follow events
  const JobTable& jobs;
  const ClusterState& cluster;
  const PerfModel& perf;
  const Forecast* forecast = nullptr;      // of submissions; null if there is none
  const DeadlineBook* promises = nullptr;  // of the scheduling policy; null where it makes none
  const JobMetrics* metrics = nullptr;     // what jobs report; null if the run names no metric
  const PriceBook* prices = nullptr;       // of GPUs; null if the run names none
};

}  // namespace muster
