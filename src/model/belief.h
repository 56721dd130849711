// What is believed of a job's length, and the three rules for beliefs that prove wrong. Every
// policy gets its beliefs from here, so none has rules of its own.
//
//   wrong     A job that ends before its time just ends. Nothing else happens.
//   overrun   A job that has done all the work it was believed to have, and goes on, is believed to
//             be twice as long, as often as needed. It so falls behind jobs that are believed to
//             have less left, and an estimate that was too low by a factor f costs log2(f) turns.
//   missing   A job without an estimate is believed to run for kUnknownDuration, and
//             grows by the rule of overruns. The same holds for policies that go by
//             estimates.
#pragma once

#include <algorithm>

#include "model/job.h"

namespace muster {

inline constexpr Seconds kUnknownDuration = 3600;

// Sets what is believed of the job's length. Iterations follow: the speed, known or not, does
// not change.
inline void believe(JobSpec& job, Seconds duration) {
  constexpr Seconds kLeast = 1e-3;  // a job that takes no time has no speed
  duration = std::max(duration, kLeast);
  if (job.duration > 0) job.iterations *= duration / job.duration;
  job.duration = duration;
  job.believed = true;
}

// For policies that go by estimates: without one, what is believed of the job's length. Returns 0
// where lengths are true, because nothing is believed then.
inline Seconds estimate_of(const JobSpec& job) {
  return job.estimate > 0 || !job.believed ? job.estimate : job.duration;
}

// What a simulation knows of its true length is gone: it ends when the work that it is believed to
// have is done.
inline void forget_truth(JobSpec& job) { job.truth = {}; }

// The job has outrun what was believed: everything that states its length is doubled.
inline void double_belief(Job& job) {
  constexpr double kLeast = 1e-3;  // doubling zero stays zero
  job.total_work = std::max(2 * job.total_work, kLeast);
  job.spec.duration *= 2;
  job.spec.iterations *= 2;
  job.spec.estimate *= 2;
}

}  // namespace muster
