// A run whose results are kept: in a folder if the description names one, and as figures in any
// case.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/metrics.h"
#include "report/progress.h"
#include "report/run_info.h"
#include "run/assembly/jobs.h"
#include "run/assembly/saved_run.h"
#include "run/config/config.h"

namespace muster {

struct RunHooks {
  std::function<bool()> keep_going = {};  // asked every turn; false ends the run
  Progress* progress = nullptr;           // gets a task for this run
  SaveOptions save = {};                  // of the run on its way (run/assembly/saved_run.h)
  Observer* observer = nullptr;           // told of everything beside the results
  // Told once before the run begins, where the warnings are known by then.
  std::function<void(const std::vector<std::string>&)> warn = {};
};

struct RecordedRun {
  RunInfo info;
  RunSummary summary;
  std::string folder;              // where the results are; empty if none were asked for
  bool complete = true;            // false: stopped by keep_going
  std::optional<Error> unwritten;  // why the results could not be kept; the figures stand
};

// `config` must be complete. A run that was stopped is kept in `folder`.incomplete.
Result<RecordedRun> record_run(const RunConfig& config, std::shared_ptr<const SharedJobs> jobs,
                               const RunHooks& hooks);

// What people should know about the run beside its figures.
RunInfo describe_run(const RunConfig& config);

// A text as a file name: lower case, what is not a letter, digit, dot or underscore becomes one
// dash.
std::string file_name_for(std::string_view text);

}  // namespace muster
