// How fast a job runs where. A rate of 1 means: as fast as its recorded duration assumes.
#pragma once

#include <memory>

#include "base/result.h"
#include "perf/knowledge.h"

namespace muster {

class PerfModel {
 public:
  virtual ~PerfModel() = default;
  // Seconds of undisturbed run that the job is worth; its recorded duration, unless the model knows
  // better.
  virtual double total_work(const JobSpec& job) const { return job.duration; }
  // Seconds of undisturbed run gained per second; positive for every run context a policy may
  // choose.
  virtual double rate(const JobSpec& job, const RunContext& context) const = 0;
  // Training steps per second; seconds of undisturbed run for jobs that count no steps. Zero where
  // the job cannot run at all.
  virtual double step_rate(const JobSpec& job, const RunContext& context) const {
    return rate(job, context) * (job.iterations > 0 ? job.iterations / job.duration : 1);
  }
  // Whether step_rate() is measured and not derived from rate().
  virtual bool counts_steps() const { return false; }
  // What else it knows.
  virtual PerfKnowledge knowledge() const { return {}; }
  // Whether the model can say how fast this job runs; the error says what it would need to know.
  virtual Status check(const JobSpec& /*job*/) const { return Done{}; }
  // Whether the model says nothing of this job, which then runs as recorded wherever it is.
  virtual bool knows_nothing_of(const JobSpec& /*job*/) const { return false; }
  // CPU cores and memory the job wants beside each GPU; zero where the model does not care.
  virtual HostResources wanted_host(const JobSpec& job) const {
    const double gpus = job.gpus > 0 ? job.gpus : 1;
    return {job.cpus / gpus, job.memory_gb / gpus};
  }
};

// What the model knows of one job or workload; null where it knows nothing.
inline const WorkloadProfile* profile_of(const PerfModel& perf, Symbol model) {
  const WorkloadProfiles* known = perf.knowledge().profiles;
  return known == nullptr ? nullptr : known->of(model);
}
inline const WorkloadProfile* profile_of(const PerfModel& perf, const JobSpec& job) {
  const WorkloadProfiles* known = perf.knowledge().profiles;
  return known == nullptr ? nullptr : known->of_job(job);
}
inline const ThroughputCurve* curve_of(const PerfModel& perf, const JobSpec& job) {
  const ScalingCurves* known = perf.knowledge().scaling;
  return known == nullptr ? nullptr : known->of(job);
}
inline const Training* training_of(const PerfModel& perf, const JobSpec& job) {
  const MeasuredTraining* known = perf.knowledge().training;
  return known == nullptr ? nullptr : known->of(job);
}
// The job's work in steps, where the model counts those: how many, and how long one takes there.
// Otherwise a step is a second of undisturbed run.
inline double steps_of(const PerfModel& perf, const JobSpec& job) {
  const StepTimes* known = perf.knowledge().steps;
  return known == nullptr ? perf.total_work(job) : known->steps(job);
}
inline double step_time_of(const PerfModel& perf, const JobSpec& job, const RunContext& context) {
  const StepTimes* known = perf.knowledge().steps;
  return known == nullptr ? 1 / perf.rate(job, context) : known->step_time(job, context);
}

}  // namespace muster
