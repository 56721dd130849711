// Jobs of tests whose lengths are beliefs.
#pragma once

#include <vector>

#include "perf/product.h"
#include "support/simulation.h"
#include "workload/believed_jobs.h"

namespace muster {

// Every length is believed to be `factor` times what it is.
class SameError final : public ErrorModel {
 public:
  explicit SameError(double factor) : factor_(factor) {}
  double factor(const JobSpec&) override { return factor_; }

 private:
  double factor_;
};

inline std::vector<JobSpec> believed_jobs(const std::vector<JobSpec>& jobs, Durations durations,
                                          std::unique_ptr<ErrorModel> errors = nullptr) {
  BelievedJobs source(std::make_unique<ListSource>(jobs), durations, std::move(errors),
                      multiply({}));
  std::vector<JobSpec> believed;
  for (; source.peek() != nullptr; source.pop()) believed.push_back(*source.peek());
  return believed;
}

// A job that is believed to take `belief` and takes `truth`.
inline JobSpec believed_job(Seconds arrival, Seconds belief, Seconds truth, int gpus = 1) {
  return believed_jobs({job_of(arrival, truth, gpus)}, Durations::kEstimate,
                       std::make_unique<SameError>(belief / truth))
      .front();
}

}  // namespace muster
