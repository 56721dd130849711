#include "report/metrics.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "fake_run.h"

namespace muster {
namespace {

JobRecord finished(std::uint32_t id, Seconds submit, Seconds start, Seconds end, int gpus) {
  JobRecord job;
  job.id = JobId{id};
  job.submit = job.arrival = submit;
  job.start = start;
  job.end = end;
  job.queue = start - submit;
  job.duration = end - start;
  job.gpus = gpus;
  job.gpu_seconds = (end - start) * gpus;
  return job;
}

TurnStats turn(Seconds time, int waiting, int running, int used, int usable = 10) {
  TurnStats stats;
  stats.time = time;
  stats.waiting = waiting;
  stats.running = running;
  stats.used_gpus = used;
  stats.usable_gpus = usable;
  return stats;
}

// From the first start to the last arrival: neither the wait before nor the tail after counts.
TEST(Metrics, BusyUtilisationLeavesTheTailOut) {
  Symbols symbols;
  MetricsFold fold(symbols);
  const auto tell = [&](Seconds time, Action action, std::uint32_t job) {
    Decision decision;
    decision.time = time;
    decision.action = action;
    decision.job = JobId{job};
    fold.on_decision(decision);
  };
  tell(0, Action::kSubmit, 0);
  fold.on_turn(turn(0, 1, 0, 0));  // it waits
  tell(10, Action::kStart, 0);
  fold.on_turn(turn(10, 0, 1, 10));
  fold.on_turn(turn(40, 0, 1, 5));
  tell(50, Action::kSubmit, 1);
  tell(50, Action::kStart, 1);
  fold.on_turn(turn(50, 0, 2, 6));
  fold.on_turn(turn(1050, 0, 1, 1));
  fold.on_turn(turn(2050, 0, 0, 0));
  const Metrics metrics = fold.summary().metrics;
  EXPECT_DOUBLE_EQ(metrics.busy_utilization, (30 * 10 + 10 * 5) / 400.0);
  EXPECT_DOUBLE_EQ(metrics.utilization, (300 + 50 + 6000 + 1000) / 20500.0);
}

TEST(Metrics, WorksOutAHandMadeRun) {
  Symbols symbols;
  MetricsFold fold(symbols);
  fold.on_job_end(finished(0, 10, 10, 110, 2));   // completes in 100, waits 0
  fold.on_job_end(finished(1, 20, 120, 220, 4));  // completes in 200, waits 100
  JobRecord refused = finished(2, 30, kNever, 30, 99);
  refused.status = JobState::kRefused;
  refused.queue = 0;
  refused.gpu_seconds = 0;
  fold.on_job_end(refused);
  const Metrics metrics = fold.summary().metrics;
  EXPECT_EQ(metrics.jobs, 3);
  EXPECT_EQ(metrics.finished, 2);
  EXPECT_EQ(metrics.refused, 1);
  EXPECT_EQ(metrics.failed, 0);
  EXPECT_DOUBLE_EQ(metrics.avg_jct_s, 150);
  EXPECT_DOUBLE_EQ(metrics.p50_jct_s, 150);
  EXPECT_DOUBLE_EQ(metrics.p99_jct_s, 199);
  EXPECT_DOUBLE_EQ(metrics.makespan_s, 210);
  EXPECT_DOUBLE_EQ(metrics.avg_queue_s, 50);
  EXPECT_DOUBLE_EQ(metrics.avg_responsiveness_s, 50);
  EXPECT_DOUBLE_EQ(metrics.gpu_hours, 600.0 / 3600);
  EXPECT_DOUBLE_EQ(metrics.avg_slowdown, 1.5);
  EXPECT_TRUE(std::isnan(metrics.utilization));
  EXPECT_TRUE(std::isnan(metrics.fairness_jain)) << "there is only one user";
}

TEST(Metrics, SaysNothingWhereThereIsNothing) {
  Symbols symbols;
  const MetricsFold fold(symbols);
  const RunSummary summary = fold.summary();
  EXPECT_EQ(summary.metrics.jobs, 0);
  EXPECT_TRUE(std::isnan(summary.metrics.avg_jct_s));
  EXPECT_TRUE(std::isnan(summary.metrics.makespan_s));
  EXPECT_TRUE(summary.jct_curve.empty());
}

TEST(Metrics, UtilisationRunsFromTheFirstJobToTheLastEnd) {
  Symbols symbols;
  MetricsFold fold(symbols);
  fold.on_turn(turn(0, 0, 0, 0));     // before the first job: does not count
  fold.on_turn(turn(100, 0, 1, 5));   // half used for 100 s
  fold.on_turn(turn(200, 0, 0, 0));   // idle for 50 s, then work again: counts
  fold.on_turn(turn(250, 1, 1, 10));  // all used for 50 s
  fold.on_turn(turn(300, 0, 0, 0));   // idle to the end: does not count
  fold.on_turn(turn(900, 0, 0, 0));
  const Metrics metrics = fold.summary().metrics;
  EXPECT_DOUBLE_EQ(metrics.utilization, (500.0 + 500.0) / 2000.0);
  EXPECT_DOUBLE_EQ(metrics.powered_gpu_hours, 2000.0 / 3600);
  EXPECT_DOUBLE_EQ(metrics.avg_queue_length, 50.0 / 200.0);
  EXPECT_EQ(metrics.max_queue_length, 1);
  EXPECT_EQ(metrics.cluster_gpus, 10);
  EXPECT_EQ(metrics.turns, 6);
}

TEST(Metrics, CountsSkippedTurns) {
  Symbols symbols;
  MetricsFold fold(symbols);
  TurnStats stats = turn(0, 0, 0, 0);
  stats.skipped = 41;
  fold.on_turn(stats);
  EXPECT_EQ(fold.summary().metrics.turns, 42);
}

TEST(Metrics, WindowMeasuresOnlyItsJobs) {
  Symbols symbols;
  MetricsFold fold(symbols, {.first = JobId{1}, .last = JobId{2}});
  fold.on_job_end(finished(0, 0, 0, 1000, 1));
  fold.on_job_end(finished(1, 10, 10, 20, 1));
  fold.on_job_end(finished(2, 10, 20, 40, 1));
  fold.on_job_end(finished(3, 10, 10, 9999, 1));
  const Metrics metrics = fold.summary().metrics;
  EXPECT_EQ(metrics.jobs, 2);
  EXPECT_DOUBLE_EQ(metrics.avg_jct_s, 20);
  EXPECT_DOUBLE_EQ(metrics.makespan_s, 30);
}

TEST(Metrics, FairnessIsOneWhenAllUsersFareAlikeAndLessWhenNot) {
  Symbols symbols;
  MetricsFold even(symbols);
  MetricsFold uneven(symbols);
  for (std::uint32_t i = 0; i < 4; ++i) {
    JobRecord job = finished(i, 0, 50, 100, 1);
    job.user = symbols.intern("u" + std::to_string(i));
    even.on_job_end(job);
    if (i == 3) job = finished(i, 0, 4950, 5000, 1), job.user = symbols.find("u3");
    uneven.on_job_end(job);
  }
  EXPECT_DOUBLE_EQ(even.summary().metrics.fairness_jain, 1);
  const double sum = 0.5 * 3 + 0.01;
  EXPECT_DOUBLE_EQ(uneven.summary().metrics.fairness_jain, sum * sum / (4 * (0.25 * 3 + 0.0001)));
}

TEST(Metrics, DeadlinesMissedByRefusedJobsCount) {
  Symbols symbols;
  MetricsFold fold(symbols);
  JobRecord job = finished(0, 0, 0, 100, 1);
  job.deadline = 100;
  fold.on_job_end(job);
  job.end = 101;
  fold.on_job_end(job);
  job.status = JobState::kRefused;
  job.end = 0;
  fold.on_job_end(job);
  fold.on_job_end(finished(1, 0, 0, 10, 1));
  EXPECT_EQ(fold.summary().metrics.deadline_jobs, 3);
  EXPECT_DOUBLE_EQ(fold.summary().metrics.deadline_met_ratio, 1.0 / 3);
  EXPECT_DOUBLE_EQ(fold.summary().metrics.best_effort_avg_jct_s, 10);
}

TEST(Metrics, GapsOfProgramsAreAveragedOverPrograms) {
  Symbols symbols;
  MetricsFold fold(symbols);
  fold.on_turn(turn(0, 3, 1, 8));
  EXPECT_TRUE(std::isnan(fold.summary().metrics.programs));
  for (const double gap : {0.2, 0.0, 0.1}) {
    TurnStats stats = turn(10, 3, 1, 8);
    stats.programs = 1;
    stats.gap = gap;
    fold.on_turn(stats);
  }
  EXPECT_EQ(fold.summary().metrics.programs, 3);
  EXPECT_DOUBLE_EQ(fold.summary().metrics.avg_gap, 0.1);
  EXPECT_DOUBLE_EQ(fold.summary().metrics.max_gap, 0.2);
}

TEST(Metrics, BlamesWaitingOnTheReasonOfTheBlockedHead) {
  Symbols symbols;
  MetricsFold fold(symbols);
  fold.on_decision({0, JobId{1}, kNoJob, 8, 2, Action::kBlock, Reason::kNotEnoughFree});
  fold.on_turn(turn(0, 3, 1, 8));
  fold.on_decision({100, JobId{1}, kNoJob, 8, 8, Action::kBlock, Reason::kFragmented});
  fold.on_turn(turn(100, 2, 1, 2));
  fold.on_decision({180, JobId{1}, kNoJob, 8, 0, Action::kStart, Reason::kFirstInOrder});
  fold.on_turn(turn(180, 1, 1, 10));  // nobody is blocked any more, and one still waits
  TurnStats held = turn(200, 0, 1, 8);
  held.held = 4;
  fold.on_decision({200, JobId{5}, kNoJob, 1, 0, Action::kHold, Reason::kLoadLimit});
  fold.on_turn(held);
  fold.on_turn(turn(210, 0, 1, 8));
  const RunSummary summary = fold.summary();
  ASSERT_EQ(summary.waits.size(), 4U);
  EXPECT_EQ(summary.waits[0].reason, Reason::kNotEnoughFree);
  EXPECT_DOUBLE_EQ(summary.waits[0].job_seconds, 300);
  EXPECT_EQ(summary.waits[1].reason, Reason::kFragmented);
  EXPECT_DOUBLE_EQ(summary.waits[1].job_seconds, 160);
  EXPECT_EQ(summary.waits[2].reason, Reason::kLoadLimit);
  EXPECT_TRUE(summary.waits[2].held);
  EXPECT_DOUBLE_EQ(summary.waits[2].job_seconds, 40);
  EXPECT_EQ(summary.waits[3].reason, Reason::kNone);
  EXPECT_DOUBLE_EQ(summary.waits[3].job_seconds, 20);
}

TEST(Metrics, AgreesWithARecountOfAWholeRun) {
  Symbols symbols;
  MetricsFold fold(symbols);
  const auto jobs = play({.jobs = 500, .shortest_first = true, .refuse_every = 50}, symbols, fold);
  const RunSummary summary = fold.summary();
  double total = 0;
  double count = 0;
  double preemptions = 0;
  double gpu_seconds = 0;
  for (const JobRecord& job : jobs) {
    preemptions += job.preemptions;
    gpu_seconds += job.gpu_seconds;
    if (job.status != JobState::kFinished) continue;
    total += job.completion_time();
    count += 1;
  }
  EXPECT_EQ(summary.metrics.jobs, 500);
  EXPECT_EQ(summary.metrics.refused, 10);
  EXPECT_DOUBLE_EQ(summary.metrics.avg_jct_s, total / count);
  EXPECT_GT(preemptions, 0);
  EXPECT_EQ(summary.metrics.preemptions, preemptions);
  // GPU-seconds add up both ways: over jobs, and over the cluster's time.
  const double span = summary.metrics.utilization * 32 * summary.metrics.makespan_s;
  EXPECT_NEAR(span, gpu_seconds, 1e-6 * gpu_seconds);
  double grouped = 0;
  for (const GroupRow& row : summary.partitions) grouped += row.jobs;
  EXPECT_EQ(summary.partitions.size(), 2U);
  EXPECT_EQ(summary.users.size(), 5U);
  EXPECT_EQ(grouped, 500);
  EXPECT_TRUE(std::is_sorted(
      summary.users.begin(), summary.users.end(),
      [](const GroupRow& a, const GroupRow& b) { return a.gpu_hours > b.gpu_hours; }));
}

// A metric of a user's own.
class LongestJob final : public CustomMetric {
 public:
  std::string_view key() const override { return "longest_job_s"; }
  std::string_view label() const override { return "longest job"; }
  Unit unit() const override { return Unit::kSeconds; }
  void on_job_end(const JobRecord& job) override { longest_ = std::max(longest_, job.duration); }
  double value() const override { return longest_; }

 private:
  double longest_ = 0;
};

TEST(CustomMetrics, StandBesideTheBuiltInOnes) {
  Symbols symbols;
  MetricsFold fold(symbols);
  fold.add(std::make_unique<LongestJob>());
  fold.add(std::make_unique<IdleWhileWaiting>());
  fold.add(std::make_unique<GpuWeightedCompletion>());
  fold.on_job_end(finished(0, 0, 0, 100, 1));
  fold.on_job_end(finished(1, 0, 0, 200, 3));
  fold.on_turn(turn(0, 1, 1, 4));     // six idle while one waits
  fold.on_turn(turn(3600, 0, 1, 4));  // idle, but nobody waits
  fold.on_turn(turn(7200, 0, 0, 0));
  const auto custom = fold.summary().custom;
  ASSERT_EQ(custom.size(), 3U);
  EXPECT_EQ(custom[0].key, "longest_job_s");
  EXPECT_DOUBLE_EQ(custom[0].value, 200);
  EXPECT_DOUBLE_EQ(custom[1].value, 6);
  EXPECT_DOUBLE_EQ(custom[2].value, 175);
}

TEST(MetricList, DescribesEveryFigureOnce) {
  std::set<std::string_view> keys;
  for (const MetricInfo& metric : metric_list()) {
    EXPECT_TRUE(keys.insert(metric.key).second) << metric.key;
    EXPECT_FALSE(metric.label.empty());
    EXPECT_FALSE(metric.sentence.empty());
  }
  EXPECT_EQ(keys.size() * sizeof(double), sizeof(Metrics)) << "a figure is missing from the list";
  for (const std::string_view key :
       {"jobs", "finished", "refused", "avg_jct_s", "p50_jct_s", "p99_jct_s", "makespan_s",
        "avg_queue_s", "utilization", "preemptions", "turns", "wall_s", "peak_rss_mb"}) {
    EXPECT_NE(find_metric(key), nullptr) << key;
  }
  EXPECT_EQ(find_metric("no_such_figure"), nullptr);
}

TEST(Names, CoverEveryActionAndReason) {
  for (int i = 0; i <= static_cast<int>(kLastAction); ++i) {
    EXPECT_FALSE(action_name(static_cast<Action>(i)).empty());
  }
  for (int i = 0; i <= static_cast<int>(kLastReason); ++i) {
    EXPECT_FALSE(reason_name(static_cast<Reason>(i)).empty());
    EXPECT_FALSE(reason_sentence(static_cast<Reason>(i)).empty());
  }
}

Decision decision(Seconds time, std::uint32_t job, Action action) {
  Decision one;
  one.time = time;
  one.job = JobId{job};
  one.action = action;
  return one;
}

TEST(Metrics, FinishTimeFairness) {
  Symbols symbols;
  MetricsFold fold(symbols);
  TurnStats busy = turn(0, 1, 1, 1, 1);
  busy.demanded_gpus = 2;  // twice what there is
  fold.on_decision(decision(0, 0, Action::kSubmit));
  fold.on_decision(decision(0, 1, Action::kSubmit));
  fold.on_turn(busy);
  JobRecord first = finished(0, 0, 0, 100, 1);
  first.duration = 50;
  fold.on_job_end(first);  // 100 / (50 * 2)
  TurnStats quiet = turn(100, 0, 1, 1, 1);
  quiet.demanded_gpus = 1;
  fold.on_turn(quiet);
  JobRecord second = finished(1, 0, 100, 200, 1);
  second.duration = 100;
  fold.on_job_end(second);  // 200 / (100 * 1.5)
  const Metrics metrics = fold.summary().metrics;
  EXPECT_DOUBLE_EQ(metrics.avg_rho, (1 + 200.0 / 150) / 2);
  EXPECT_DOUBLE_EQ(metrics.max_rho, 200.0 / 150);
}

TEST(Metrics, LeasesExtended) {
  Symbols symbols;
  MetricsFold fold(symbols);
  fold.on_turn(turn(0, 0, 4, 4));
  // One ends, one is moved, two stay.
  fold.on_decision(decision(10, 0, Action::kFinish));
  fold.on_decision(decision(10, 1, Action::kMove));
  fold.on_turn(turn(10, 0, 3, 3));
  // Nothing happens to the three.
  fold.on_turn(turn(20, 0, 3, 3));
  EXPECT_DOUBLE_EQ(fold.summary().metrics.lease_extension_ratio, 5.0 / 6);
}

TEST(Metrics, CostsAndPriorities) {
  Symbols symbols;
  MetricsFold fold(symbols);
  EXPECT_TRUE(std::isnan(fold.summary().metrics.cost_usd));
  JobRecord cheap = finished(0, 0, 0, 100, 1);
  cheap.cost = 2;
  cheap.priority = 1;
  JobRecord dear = finished(1, 0, 0, 300, 1);
  dear.cost = 3;
  dear.priority = 5;
  fold.on_job_end(cheap);
  fold.on_job_end(dear);
  TurnStats spent = turn(100, 0, 1, 1);
  spent.spent = 4;
  fold.on_turn(spent);
  const RunSummary summary = fold.summary();
  EXPECT_EQ(summary.metrics.cost_usd, 4);
  EXPECT_EQ(summary.metrics.job_cost_usd, 5);
  ASSERT_EQ(summary.priorities.size(), 2U);
  EXPECT_EQ(summary.priorities[1].name, "5");
  EXPECT_EQ(summary.priorities[1].avg_jct_s, 300);
}

}  // namespace
}  // namespace muster
