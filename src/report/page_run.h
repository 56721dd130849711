// One run as a report page shows it. Made from a result folder, or from the folds of a run that is
// still in memory.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "report/metrics.h"
#include "report/result_reader.h"
#include "report/run_info.h"
#include "report/timeline.h"

namespace muster {

struct GanttJob {
  std::string name;
  int gpus = 0;
  Seconds submit = 0;
  Seconds end = 0;
  std::vector<std::pair<Seconds, Seconds>> runs;  // when it held GPUs
};

// The jobs submitted around the busiest moment of a run, one by one.
struct Gantt {
  Seconds from = 0;
  Seconds to = 0;
  std::vector<GanttJob> jobs;  // by submit time
};

struct PageRun {
  RunInfo info;
  RunSummary summary;
  Timeline timeline;
  std::optional<Gantt> gantt;
  bool complete = true;
  std::string incomplete_because;
};

// Reads all that a page needs. A Gantt chart is added for runs of at most kMostGanttJobs jobs.
inline constexpr double kMostGanttJobs = 5000;
Result<PageRun> page_run(const ResultFolder& result);

// The same timeline in at most `most` buckets.
Timeline coarser(const Timeline& timeline, std::size_t most);

}  // namespace muster
