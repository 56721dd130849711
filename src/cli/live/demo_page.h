// The page that `muster demo --live` leaves: what happened, and what the simulator says of it.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/record.h"

namespace muster {

struct DemoSpan {
  Seconds from = 0;
  Seconds to = 0;
  int gpus = 0;
};

// One of the two: its jobs, and when each held how many GPUs.
struct DemoRun {
  std::string label;
  std::vector<JobRecord> records;
  std::map<JobId, std::vector<DemoSpan>> spans;
};

Status write_demo_page(const std::string& path, const std::vector<DemoRun>& runs, int gpus);

}  // namespace muster
