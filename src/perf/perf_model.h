// How fast a job runs where. A rate of 1 means: as fast as its recorded duration assumes.
#pragma once

#include <memory>
#include <span>

#include "base/result.h"
#include "model/cluster_state.h"
#include "model/job_spec.h"
#include "perf/throughput_curve.h"

namespace muster {

// Run context: everything that a rate may depend on.
struct RunContext {
  int gpus = 0;
  int nodes = 1;
  int racks = 1;
  Symbol gpu_type = kNoSymbol;
  HostResources host;
  std::span<const JobSpec* const> neighbours;  // others on the same GPUs
  bool joined = false;                         // they were there first
  bool opportunistic = false;                  // it only gets what they leave idle
};

// The profile of a workload that runs alone on a GPU.
struct WorkloadProfile {
  double gpu_util = 0;     // percent of time in which a kernel runs
  double memory_util = 0;  // percent of time in which memory is read or written
  double memory_mb = 0;    // in use on each GPU
  bool mixed_precision = false;
  int share_score = 0;  // 0 a light neighbour, 1 a noticeable one, 2 a heavy one
};

struct Interleaving;
class Training;

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
  // What is known of the workload; null where nothing is.
  virtual const WorkloadProfile* profile(Symbol /*model*/) const { return nullptr; }
  // The same in steps, where the model counts those: how many, and how long one takes there.
  // Otherwise a step is a second of undisturbed run.
  virtual double steps(const JobSpec& job) const { return total_work(job); }
  virtual double step_time(const JobSpec& job, const RunContext& context) const {
    return 1 / rate(job, context);
  }
  // How jobs on the same GPUs take turns, where the model knows; null where it does not.
  virtual const Interleaving* interleaving() const { return nullptr; }
  // Iterations per second of this job by GPU count, as measured; null where nobody has measured it.
  virtual const ThroughputCurve* curve(const JobSpec& /*job*/) const { return nullptr; }
  // The measured application that this job trains; null where nobody has measured it.
  virtual const Training* training(const JobSpec& /*job*/) const { return nullptr; }
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

// Nodes and racks under a set of GPUs, and the type of its first node.
RunContext run_context_of(const ClusterState& cluster, const GpuSet& gpus,
                          const HostResources& host);

}  // namespace muster
