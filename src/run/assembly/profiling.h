// A profiling stage before the run, as Lucid (ASPLOS'23) has it: every small job first runs for a
// while on a few nodes, where its use of the GPU is measured; short ones end there, the others go
// to their virtual cluster. docs/lucid.md tells what each setting does.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "perf/forecast.h"
#include "policy/lucid/profiler_nodes.h"
#include "run/assembly/partitions_apart.h"

namespace muster {

struct ProfilingSettings {
  int nodes = 2;  // of the profiler
  int gpus_per_node = 8;
  Seconds limit = 200;  // a job longer than this leaves unfinished
  int largest = 8;      // GPUs of the largest job that is profiled
  bool borrow = true;   // one more node under backlog
  ProfilerScaling scaling;
  // Who gives up the profiler's nodes for good, one each time it is named; the rest is extra.
  std::vector<Symbol> donors;
  Symbol lender = kNoSymbol;  // who lends the node that comes and goes; kNoSymbol: it is extra
  // Profiling costs no time: a job that was profiled without ending may start in its virtual
  // cluster from its submission on. Otherwise it arrives there when profiling ends.
  bool free = false;
  // As in AccountingInfo.
  void (*book)(JobRecord& record, Seconds began) = nullptr;
};

struct ProfiledJob {
  Seconds start = kNever;  // kNever: too large to be profiled
  Seconds end = kNever;
  bool finished = false;  // it ended within the limit
};

struct Profiling {
  std::vector<ProfiledJob> jobs;     // in the order of the list
  std::vector<ScalingEvent> events;  // when the borrowed node came and went
  PieceLog log;
  bool complete = true;
};

// The profiling stage over all jobs, in order of arrival. Of `run` it uses the pacing, the forecast
// and the request to stop.
Result<Profiling> run_profiling(std::span<const JobSpec> jobs, const ProfilingSettings& settings,
                                const ApartSettings& run);

// Profiling, then the run. The profiler is the last piece; its nodes are numbered behind the
// others.
Result<ApartOutcome> run_profiled(const ClusterSpec& cluster, std::span<const JobSpec> jobs,
                                  const ProfilingSettings& settings, const ApartSettings& run);

}  // namespace muster
