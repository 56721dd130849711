// What an experiment records of its runs in addition to their summaries: when jobs began and ended,
// how often they were stopped, and how long they took.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "model/record.h"
#include "report/metrics.h"
#include "run/config/config.h"
#include "run/experiment/golden.h"

namespace muster {

// Keeps what golden values and figures are about: the times of jobs, and stops.
class JobTimes final : public Observer {
 public:
  // Jobs are kept that `golden` names, by their number or by the trace's own ids; completion times
  // of all jobs only if `completions`.
  JobTimes(const std::vector<GoldenJob>& golden, bool trace_ids, bool completions);
  void on_job_end(const JobRecord& job) override;
  void on_turn(const TurnStats& turn) override { stops_ += turn.stops; }

  double stops() const { return static_cast<double>(stops_); }
  // The share of jobs that were completed within so many seconds.
  double within(double seconds) const;
  // Of their completion times in order, from 0, the one at place `fraction` times their number,
  // rounded down.
  double at_rank(double fraction) const;
  const std::optional<GoldenJob>& of(long long id) const {
    return times_[static_cast<std::size_t>(id - first_)];
  }

 private:
  bool trace_ids_;
  bool completions_;
  long long first_ = 0;
  long long stops_ = 0;
  std::vector<std::optional<GoldenJob>> times_;
  std::vector<double> completion_;
};

// Completion times of the jobs that are measured.
class Completions final : public Observer {
 public:
  explicit Completions(const RunConfig& config);
  void on_job_end(const JobRecord& job) override;
  // The mean over the jobs of both of ours over theirs.
  double mean_ratio(const Completions& theirs) const;

 private:
  MetricsFold::Options options_;
  std::map<JobId, double> times_;
};

// Tells several observers.
class Both final : public Observer {
 public:
  Both(Observer& first, Observer& second) : first_(first), second_(second) {}
  void on_job_end(const JobRecord& job) override {
    first_.on_job_end(job);
    second_.on_job_end(job);
  }
  void on_turn(const TurnStats& turn) override { first_.on_turn(turn); }

 private:
  Observer& first_;
  Observer& second_;
};

}  // namespace muster
