// Jobs whose length is a belief: passes on what another source yields, with the true length hidden
// from policies. model/belief.h has the rules.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "perf/perf_model.h"
#include "workload/error_models.h"
#include "workload/source.h"

namespace muster {

// What those who decide are told of the lengths of jobs.
enum class Durations {
  kTrue,      // the truth, as only a simulation can
  kEstimate,  // estimates: the jobs' own, or drawn by an error model
  kNone,      // nothing
};

// "true", "estimate" or "none".
std::optional<Durations> parse_durations(std::string_view text);
std::string_view durations_name(Durations durations);

class BelievedJobs final : public JobSource {
 public:
  // `errors` may be null: the jobs' own estimates are believed. `perf` is what policies believe in.
  BelievedJobs(std::unique_ptr<JobSource> inner, Durations durations,
               std::unique_ptr<ErrorModel> errors, std::shared_ptr<const PerfModel> perf)
      : inner_(std::move(inner)),
        durations_(durations),
        errors_(std::move(errors)),
        perf_(std::move(perf)) {}

  const JobSpec* peek() override;
  void pop() override {
    inner_->pop();
    ready_ = false;
  }
  bool finished() override { return inner_->finished(); }
  std::optional<Error> error() const override { return inner_->error(); }
  std::vector<std::string> notes() const override { return inner_->notes(); }
  bool more_after(Seconds time) const override { return inner_->more_after(time); }

 private:
  std::unique_ptr<JobSource> inner_;
  Durations durations_;
  std::unique_ptr<ErrorModel> errors_;
  std::shared_ptr<const PerfModel> perf_;
  JobSpec job_;
  bool ready_ = false;
};

}  // namespace muster
