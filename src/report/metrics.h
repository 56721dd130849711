// Folds a run into its figures while it runs. Memory is bounded: distributions keep exact values up
// to Quantiles::kExactLimit (8 bytes per job and distribution) and buckets beyond; there are as
// many groups as users, partitions and GPU counts.
//
// JCT, queueing time and slowdown are over finished jobs; responsiveness is over jobs that started.
// A window of job ids restricts these and all counts to the jobs inside it (Blox and Gavel measure
// like that); utilisation, queue length and why jobs waited always cover the whole run.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/record.h"
#include "report/custom_metric.h"
#include "report/metric_list.h"
#include "report/quantiles.h"

namespace muster {

// One user, partition or GPU count.
struct GroupRow {
  std::string name;
  double jobs = 0;
  double finished = 0;
  double refused = 0;
  double failed = 0;
  double cancelled = 0;
  double preemptions = 0;
  double avg_jct_s = kNoFigure;
  double avg_queue_s = kNoFigure;
  double gpu_hours = 0;
};

struct DecisionCount {
  Action action{};
  Reason reason{};
  double count = 0;
};

// Job-seconds spent without GPUs while the head of the line was blocked for this reason, or, for
// jobs that admission held, while it held them for this reason.
struct WaitCause {
  Reason reason{};
  bool held = false;
  double job_seconds = 0;
};

struct CustomFigure {
  std::string key;
  std::string label;
  Unit unit = Unit::kCount;
  Better better = Better::kNeither;
  double value = kNoFigure;
};

struct RunSummary {
  Metrics metrics;
  std::vector<CustomFigure> custom;
  std::vector<GroupRow> partitions;  // by name
  std::vector<GroupRow> users;       // most GPU-hours first, at most kMostUsers
  std::vector<GroupRow> sizes;       // by GPU count
  std::vector<GroupRow> priorities;  // by priority, where jobs differ in it
  std::vector<DecisionCount> decisions;
  std::vector<WaitCause> waits;  // most job-seconds first
  std::vector<CurvePoint> jct_curve;
  std::vector<CurvePoint> queue_curve;
  double quantile_error = 0;  // relative; 0: exact

  static constexpr std::size_t kMostUsers = 200;
  static constexpr std::size_t kCurvePoints = 400;
};

class MetricsFold final : public Observer {
 public:
  struct Options {
    JobId first{0};  // window of jobs to measure, both ends included
    JobId last = kNoJob;
    // A deadline is met by completion times below it, as Gavel counts: late arrivals always do.
    bool deadlines_by_completion_time = false;
    std::size_t exact_values = Quantiles::kExactLimit;
  };

  // `symbols` names users and partitions; it must outlive the fold.
  explicit MetricsFold(const Symbols& symbols) : MetricsFold(symbols, Options{}) {}
  MetricsFold(const Symbols& symbols, Options options);

  void add(std::unique_ptr<CustomMetric> metric) { custom_.push_back(std::move(metric)); }

  void on_decision(const Decision& decision) override;
  void on_job_end(const JobRecord& job) override;
  void on_turn(const TurnStats& turn) override;

  RunSummary summary() const;

 private:
  struct Group {
    std::uint64_t jobs = 0;
    std::uint64_t finished = 0;
    std::uint64_t refused = 0;
    std::uint64_t failed = 0;
    std::uint64_t cancelled = 0;
    std::uint64_t preemptions = 0;
    Sum completion;
    Sum queue;
    Sum duration;
    Sum gpu_seconds;

    void add(const JobRecord& job);
  };

  static GroupRow row(std::string name, const Group& group);
  void fill_times(Metrics& metrics) const;
  void fill_groups(RunSummary& summary) const;
  void count_leases();
  void note_come(const Decision& decision);
  void add_rho(const JobRecord& job);
  double contention_at(Seconds time) const;
  void fill_decisions(RunSummary& summary) const;
  double fairness() const;
  Group& group_of(std::vector<Group>& groups, Symbol symbol) const;

  const Symbols& symbols_;
  Options options_;
  std::vector<std::unique_ptr<CustomMetric>> custom_;

  Group all_;
  std::vector<Group> users_;       // by symbol
  std::vector<Group> partitions_;  // by symbol
  std::map<int, Group> sizes_;
  std::map<int, Group> priorities_;
  Quantiles completion_;
  Quantiles queue_;
  Quantiles responsiveness_;
  Quantiles slowdown_;
  Sum bounded_slowdown_;
  Sum lost_work_;
  Sum overhead_;
  Sum cost_;
  Sum spent_;
  bool priced_ = false;
  std::uint64_t restarts_ = 0;
  std::uint64_t resizes_ = 0;
  std::uint64_t deadlines_ = 0;
  std::uint64_t deadlines_met_ = 0;
  std::uint64_t late_ = 0;
  Sum lateness_;
  std::uint64_t best_effort_ = 0;  // finished
  Sum best_effort_completion_;
  std::uint64_t programs_ = 0;
  Sum gaps_;
  double largest_gap_ = 0;
  Sum value_;
  Sum best_value_;
  Seconds first_submit_ = kNever;
  Seconds last_end_ = -kNever;

  // Integrals over time. Idle stretches count only once a job comes after them.
  TurnStats last_;
  bool busy_seen_ = false;
  std::uint64_t turns_ = 0;
  Sum used_;
  Sum usable_;
  Sum queued_;
  Sum busy_time_;
  // GPU-seconds so far when the first job started and when the last one came.
  struct Used {
    double used = 0;
    double usable = 0;
  };
  Used used_so_far() const { return {used_.value(), usable_.value() + idle_usable_}; }
  bool started_ = false;
  bool starts_now_ = false;  // the first job, in this turn
  bool comes_now_ = false;   // any job, in this turn
  Used at_first_start_;
  Used at_last_arrival_;
  double idle_usable_ = 0;
  double idle_time_ = 0;
  std::int32_t most_queued_ = 0;

  // Finish-time fairness: GPUs asked for over GPUs there, at least 1, summed up over time; what the
  // sum was when each job came, from the oldest that is still there.
  struct Come {
    Seconds time = kNever;
    double contention = 0;
    bool left = false;
  };
  std::deque<Come> come_;
  std::uint32_t oldest_ = 0;
  double contention_ = 0;
  Sum rho_;
  std::uint64_t rhos_ = 0;
  double most_rho_ = 0;

  // Leases: of the jobs that ran after the turn before.
  std::int64_t ended_ = 0;      // since then
  std::int64_t disturbed_ = 0;  // stopped, moved or resized since then
  std::uint64_t leases_ = 0;
  std::uint64_t extended_ = 0;

  std::int32_t most_usable_ = 0;

  std::vector<std::uint64_t> decisions_;  // by action and reason
  std::vector<Sum> waits_;                // by held and reason
  Reason block_ = Reason::kNone;          // why the head of the line does not run
  JobId block_job_ = kNoJob;              // that head
  Reason hold_ = Reason::kNone;
  Reason last_block_ = Reason::kNone;  // as of the last turn's end
  Reason last_hold_ = Reason::kNone;
};

}  // namespace muster
