// The sizes that a job of ElasticFlow's traces can have.
#pragma once

#include <algorithm>

#include "model/job_spec.h"

namespace muster {

// The global batch is divided among the GPUs, at most one GPU per sample; no measurement has more
// than 64 GPUs.
inline void set_elastic_range(JobSpec& job) {
  constexpr int kMeasured = 64;
  job.min_gpus = 1;
  job.max_gpus = job.batch_size > 0 ? std::min(kMeasured, job.batch_size) : kMeasured;
  job.max_gpus = std::max(job.max_gpus, job.gpus);
}

}  // namespace muster
