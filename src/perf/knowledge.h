// Capabilities of a performance model: what it knows of jobs beyond their rates. Each is a small
// object of its own, and a model that has none of them says nothing. A policy that declares the
// need (policy/needs.h) asks for the object and finds null if there are no measurements.
//
// To add one: write its interface here, give PerfKnowledge a pointer to it, let the models that
// have it return themselves, and let perf/product.cc pass it on.
#pragma once

#include "base/symbols.h"
#include "perf/run_context.h"
#include "perf/throughput_curve.h"

namespace muster {

// The profile of a workload that runs alone on a GPU.
struct WorkloadProfile {
  double gpu_util = 0;     // percent of time in which a kernel runs
  double memory_util = 0;  // percent of time in which memory is read or written
  double memory_mb = 0;    // in use on each GPU
  bool mixed_precision = false;
  int share_score = 0;  // 0 a light neighbour, 1 a noticeable one, 2 a heavy one
};

// If the workload has no label: a light neighbour leaves most of the GPU idle.
inline int score_by_utilisation(const WorkloadProfile& profile) {
  if (profile.gpu_util >= 85 || profile.memory_util >= 50) return 2;
  return profile.gpu_util >= 50 || profile.memory_util >= 30 ? 1 : 0;
}

// Co-location profiles: what workloads do to a GPU.
class WorkloadProfiles {
 public:
  virtual ~WorkloadProfiles() = default;
  // Null where nothing is known of the workload.
  virtual const WorkloadProfile* of(Symbol model) const = 0;
  // Of one job: what was measured of it itself, else what is known of its workload.
  virtual const WorkloadProfile* of_job(const JobSpec& job) const { return of(job.model); }
};

// Scaling curves: iterations per second by GPU count, as measured.
class ScalingCurves {
 public:
  virtual ~ScalingCurves() = default;
  // Null if the job's model was not measured at its batch size.
  virtual const ThroughputCurve* of(const JobSpec& job) const = 0;
};

class Training;

// Measured applications: step times and statistical efficiency (perf/training.h).
class MeasuredTraining {
 public:
  virtual ~MeasuredTraining() = default;
  // Null if the job's model was not measured.
  virtual const Training* of(const JobSpec& job) const = 0;
};

// Training steps: how many a job has, and how long one takes in a run context.
class StepTimes {
 public:
  virtual ~StepTimes() = default;
  virtual double steps(const JobSpec& job) const = 0;
  virtual double step_time(const JobSpec& job, const RunContext& context) const = 0;
};

struct Interleaving;

// What one model has; null: it has not.
struct PerfKnowledge {
  const WorkloadProfiles* profiles = nullptr;
  const ScalingCurves* scaling = nullptr;
  const MeasuredTraining* training = nullptr;
  const StepTimes* steps = nullptr;
  const Interleaving* interleaving = nullptr;  // how jobs on the same GPUs take turns
};

}  // namespace muster
