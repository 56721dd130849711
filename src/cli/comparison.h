// Several runs side by side: the work behind `compare` and `demo`.
#pragma once

#include <string>
#include <vector>

#include "cli/run_options.h"
#include "run/config/config.h"

namespace muster {

struct ComparisonOptions {
  std::string title;   // of the page and the progress display
  std::string folder;  // each run gets a folder in it, the page is report.html; empty: keep nothing
  unsigned threads = 0;
  bool json = false;
  bool quiet = false;
  std::vector<std::string> metrics = {};
};

// Runs complete descriptions that share one workload, prints the table, writes the page. The labels
// are the names of the runs. Returns the exit status.
int compare_runs(std::vector<RunConfig> runs, const ComparisonOptions& options);

}  // namespace muster
