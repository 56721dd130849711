// From a cluster and its jobs to the numbers that allocators are asked with; shared by the rounds
// (policy/gavel/rounds.h) and by execution without them (artifacts/gavel/fluid_run.h).
#pragma once

#include <vector>

#include "model/cluster_state.h"
#include "model/job.h"
#include "perf/perf_model.h"
#include "policy/gavel/allocator.h"

namespace muster {

// The GPU types of a cluster in the order of the columns: from the last that it names to the first.
// For Gavel's three types that is the alphabetical order of its matrices.
std::vector<Symbol> type_columns(const ClusterState& cluster);

// Steps per second on GPUs of a type, alone or with a co-located job; 0 where it may not or cannot
// run.
double rate_on(const PerfModel& perf, const JobSpec& job, Symbol type, const JobSpec* co_located);

// Whole steps done are exact up to rounding, because work is given in whole steps.
double steps_left(const Job& job, Seconds now);

AllocationJob allocation_job(const JobSpec& job, double steps_left, Seconds now);

}  // namespace muster
