// How long jobs really run, where what the run says of them is a belief.
//
// For simulated backends, records, and what repeats a published simulator that ends jobs itself.
// Policies and the engine decide by beliefs: scripts/layout-check keeps this header from them.
#pragma once

#include "model/job.h"

namespace muster {

inline bool knows_truth(const JobSpec& job) { return job.truth->duration >= 0; }

inline Seconds true_duration(const JobSpec& job) {
  return knows_truth(job) ? job.truth->duration : job.duration;
}

inline double true_iterations(const JobSpec& job) {
  return knows_truth(job) ? job.truth->iterations : job.iterations;
}

// The work after which the job is over.
inline double true_work(const Job& job) {
  return knows_truth(job.spec) ? job.spec.truth->work + job.added_work : job.total_work;
}

// The job with its true length, for a model that has to be asked about that.
inline JobSpec as_it_is(JobSpec job) {
  job.duration = true_duration(job);
  job.iterations = true_iterations(job);
  return job;
}

}  // namespace muster
