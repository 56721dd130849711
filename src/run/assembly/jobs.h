// The jobs of a run: read from a trace or drawn by a generator, streamed or kept in memory to be
// shared.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/symbols.h"
#include "run/config/config.h"
#include "workload/source.h"

namespace muster {

// Immutable once made: one trace serves all runs of a comparison or sweep.
struct SharedJobs {
  Symbols symbols;
  std::vector<JobSpec> jobs;
  std::vector<std::string> notes;  // of the source that they came from
};

// The whole workload in memory. A generator without end needs workload.limit. `keep_going` is asked
// now and then; no ends it with an error.
Result<std::shared_ptr<const SharedJobs>> load_jobs(const WorkloadConfig& workload,
                                                    const std::function<bool()>& keep_going = {});

struct OpenedJobs {
  std::unique_ptr<JobSource> source;
  std::uint64_t expected = 0;  // 0: not known
};

// The workload as a stream. Symbols are interned as jobs come. `keep_going` is asked while a trace
// is read that must be whole first.
Result<OpenedJobs> open_jobs(const WorkloadConfig& workload, Symbols& symbols,
                             const std::function<bool()>& keep_going = {});

}  // namespace muster
