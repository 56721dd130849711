// Checks that the start of every job has a cost: passes on the jobs of another source until one
// comes whose model and GPU count have no row in the table of restart costs. That job ends the
// stream with an error.
#pragma once

#include <memory>

#include "perf/restart_cost.h"
#include "run/config/config.h"
#include "workload/source.h"

namespace muster {

class PricedJobs final : public JobSource {
 public:
  PricedJobs(std::unique_ptr<JobSource> inner, std::shared_ptr<const RestartCost> cost,
             const Symbols& symbols)
      : inner_(std::move(inner)), cost_(std::move(cost)), symbols_(symbols) {}
  const JobSpec* peek() override;
  void pop() override { inner_->pop(); }
  bool finished() override { return unpriced_ || inner_->finished(); }
  std::optional<Error> error() const override { return unpriced_ ? unpriced_ : inner_->error(); }
  std::vector<std::string> notes() const override { return inner_->notes(); }

 private:
  std::unique_ptr<JobSource> inner_;
  std::shared_ptr<const RestartCost> cost_;
  const Symbols& symbols_;
  std::optional<Error> unpriced_;
};

}  // namespace muster
