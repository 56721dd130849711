// Lucid (ASPLOS'23) from end to end: every small job is profiled for a while on a few nodes, short
// ones end there, the others go to their virtual cluster and may share GPUs. docs/lucid.md tells
// what each setting does and which reproduce the published artifact.
#pragma once

#include <map>
#include <string>

#include "policy/scaling/profiler_nodes.h"
#include "run/partitions_apart.h"

namespace muster {

struct ProfilingSettings {
  int nodes = 2;  // of the profiler
  int gpus_per_node = 8;
  Seconds limit = 200;  // a job longer than this leaves unfinished
  int largest = 8;      // GPUs of the largest job that is profiled
  bool scaling = true;  // borrow one more node under backlog
  ProfilerScaling scaling_rule;
  // Who gives up the profiler's nodes for good, one each time it is named; the rest is extra.
  std::vector<Symbol> donors;
  Symbol lender = kNoSymbol;  // who lends the node that comes and goes; kNoSymbol: it is extra
  // As published, a job that was profiled without ending may start in its virtual cluster from its
  // submission on, as if it had not been profiled. Otherwise it arrives there when profiling ends.
  bool free = false;
};

struct ProfiledJob {
  Seconds start = kNever;  // kNever: too large to be profiled
  Seconds end = kNever;
  bool finished = false;  // it ended within the limit
};

struct Profiling {
  std::vector<ProfiledJob> jobs;     // in the order of the list
  std::vector<ScalingEvent> events;  // when the borrowed node came and went
};

// The profiling stage over all jobs, in order of arrival.
Result<Profiling> run_profiling(std::span<const JobSpec> jobs, const ProfilingSettings& settings,
                                std::shared_ptr<const Forecast> forecast);

struct LucidSettings {
  ProfilingSettings profiling;
  ParamTexts placement;  // parameters of the placement with-share
  ApartSettings apart;   // its policies and scaling are chosen here
};

struct LucidOutcome {
  Profiling profiling;
  std::vector<JobRecord> records;  // in the order of the list; queueing includes the profiler's
};

Result<LucidOutcome> run_lucid(const ClusterSpec& cluster, std::span<const JobSpec> jobs,
                               LucidSettings settings);

}  // namespace muster
