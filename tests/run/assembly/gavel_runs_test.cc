// Runs of Gavel's policies in the large: saved and continued, without rounds, with prices and with
// beliefs.
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/gavel/rows.h"
#include "run/gavel_fixture.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

class GavelRuns : public GavelFixture {};

TEST_F(GavelRuns, GoOnFromWhereTheyWereSaved) {
  const std::string file = (folder_.path() / "saved").string();
  for (const std::string policy :
       {"gavel-isolated", "gavel-fifo", "gavel-gandiva", "gavel-allox", "gavel-fifo-packed",
        "gavel-max-min-fairness", "gavel-max-min-fairness-packed",
        "gavel-max-min-fairness-water-filling-perf", "gavel-min-total-duration-perf",
        "gavel-finish-time-fairness-perf", "gavel-finish-time-fairness,solver=simplex", ""}) {
    const RunConfig whole =
        drawn(policy.empty() ? "gavel-finish-time-fairness-perf" : as_coded(policy));
    const Outcome straight = run(whole);
    ASSERT_TRUE(straight.complete) << policy << straight.error;
    const Outcome saving = run(whole, {.at_job = 20, .file = file});
    ASSERT_TRUE(saving.complete) << policy << saving.error;
    EXPECT_EQ(records(saving.log), records(straight.log)) << "saving must not change the run";
    const Outcome later = run(whole, {.continue_from = file});
    ASSERT_TRUE(later.complete) << policy << later.error;
    EXPECT_EQ(records(later.log), records(straight.log)) << policy;
    EXPECT_EQ(later.log.lines(), straight.log.lines()) << policy;
    EXPECT_EQ(later.log.turns.size(), straight.log.turns.size());
    EXPECT_EQ(later.log.placements.size(), straight.log.placements.size());
    EXPECT_EQ(later.metrics.avg_jct_s, straight.metrics.avg_jct_s);
    EXPECT_EQ(later.metrics.utilization, straight.metrics.utilization);
    EXPECT_EQ(later.metrics.avg_rho, straight.metrics.avg_rho);
  }
}

TEST_F(GavelRuns, AllPoliciesCanBeSaved) {
  const std::string file = (folder_.path() / "saved").string();
  for (const AllocatorInfo& info : allocator_table()) {
    for (const std::string& policy : {std::string(info.name), as_coded(info.name)}) {
      const RunConfig whole = drawn(policy, "", "jobs = 12\nfixed_duration = 9000\n");
      const Outcome straight = run(whole, {.at_job = 6, .file = file});
      ASSERT_TRUE(straight.complete) << policy << straight.error;
      const Outcome later = run(whole, {.continue_from = file});
      ASSERT_TRUE(later.complete) << policy << later.error;
      EXPECT_EQ(records(later.log), records(straight.log)) << policy;
    }
  }
}

// POP: every program in two parts, which end all jobs and are remembered when the run is saved.
TEST_F(GavelRuns, ProgramsInParts) {
  const std::string file = (folder_.path() / "saved").string();
  for (const AllocatorInfo& info : allocator_table()) {
    if (!info.name.starts_with("gavel-m") && !info.name.starts_with("gavel-finish")) continue;
    const std::string policy = fmt::format("{}:parts=2", info.name);
    const RunConfig whole = drawn(policy, "", "jobs = 12\nlam = 0\nfixed_duration = 9000\n");
    const Outcome straight = run(whole, {.at_job = 11, .file = file});
    ASSERT_TRUE(straight.complete) << policy << straight.error;
    EXPECT_EQ(straight.metrics.finished, 12) << policy;
    EXPECT_EQ(records(run(whole, {.continue_from = file}).log), records(straight.log)) << policy;
  }
}

TEST_F(GavelRuns, SavedWithFailuresTheyFailTheSame) {
  const std::string file = (folder_.path() / "saved").string();
  const RunConfig whole =
      drawn("gavel-isolated", "[failures]\nnode_mtbf = 200000\nnode_repair = 4000\n");
  const Outcome straight = run(whole);
  EXPECT_GT(straight.metrics.restarts, 0);
  ASSERT_TRUE(run(whole, {.at_job = 25, .file = file}).complete);
  const Outcome later = run(whole, {.continue_from = file});
  EXPECT_EQ(records(later.log), records(straight.log));
}

TEST_F(GavelRuns, WhatCannotGoOnIsTold) {
  const std::string file = (folder_.path() / "saved").string();
  const RunConfig whole = drawn("gavel-isolated");
  ASSERT_TRUE(run(whole, {.at_job = 5, .file = file}).complete);
  EXPECT_THAT(run(drawn("gavel-allox"), {.continue_from = file}).error,
              HasSubstr("saved with another description"));
  EXPECT_THAT(run(whole, {.continue_from = table_}).error, HasSubstr("is not a saved run"));
  const std::string bytes = folder_.read("saved");
  folder_.write("short", bytes.substr(0, bytes.size() - 100));
  EXPECT_THAT(run(whole, {.continue_from = (folder_.path() / "short").string()}).error,
              HasSubstr("damaged or cut off"));
  EXPECT_THAT(run(whole, {.at_job = 4000, .file = file}).error,
              HasSubstr("job 4000 never arrived"));
  EXPECT_THAT(
      run(drawn("gavel-isolated", "execution = 'fluid'"), {.at_job = 5, .file = file}).error,
      HasSubstr("cannot be saved"));
}

TEST_F(GavelRuns, IdealExecutionIsTheFractions) {
  // Two equal jobs on one GPU get half of it each; when one is done, the other gets all.
  const std::string lm = "LM (batch size 5)";  // 110 steps per second on a v100
  const RunConfig two = traced("gavel-isolated", row(lm, 1, 11000, 0) + row(lm, 1, 33000, 0),
                               "1:0:0", "execution = 'fluid'");
  const Outcome outcome = run(two);
  ASSERT_TRUE(outcome.complete) << outcome.error;
  ASSERT_EQ(outcome.log.jobs.size(), 2U);
  EXPECT_NEAR(outcome.log.job(0).end, 200, 1e-9);
  EXPECT_NEAR(outcome.log.job(1).end, 400, 1e-9);
  EXPECT_NEAR(outcome.log.job(0).gpu_seconds, 100, 1e-9);
  EXPECT_NEAR(outcome.log.job(1).gpu_seconds, 300, 1e-9);
  // A job that comes in between changes the allocation at once.
  const RunConfig three = traced("gavel-isolated", row(lm, 1, 22000, 0) + row(lm, 1, 5500, 50),
                                 "1:0:0", "execution = 'fluid'");
  const Outcome later = run(three);
  EXPECT_NEAR(later.log.job(1).end, 150, 1e-9);
  EXPECT_NEAR(later.log.job(0).end, 250, 1e-9);
}

TEST_F(GavelRuns, IdealExecutionOfManyJobsIsNearTheRounds) {
  for (const std::string policy : {"gavel-isolated", "gavel-fifo-perf", "gavel-gandiva"}) {
    const Outcome rounds = run(drawn(policy));
    const Outcome ideal = run(drawn(policy, "execution = 'fluid'"));
    ASSERT_TRUE(ideal.complete) << ideal.error;
    EXPECT_EQ(ideal.log.jobs.size(), rounds.log.jobs.size());
    EXPECT_EQ(ideal.metrics.finished, 40);
  }
  EXPECT_THAT(run(drawn("las", "execution = 'fluid'")).error,
              HasSubstr("needs a policy that allocates them"));
}

TEST_F(GavelRuns, CostsArePricesTimesTime) {
  const std::string lm = "LM (batch size 5)";
  const std::string prices = "[prices.table]\nv100 = 3.6\n";
  // Two jobs after each other on one GPU for 200 s in all; nothing else costs anything.
  const RunConfig one =
      traced("gavel-fifo-perf", row(lm, 1, 11000, 0) + row(lm, 1, 11000, 0), "1:0:0", prices);
  const Outcome outcome = run(one);
  ASSERT_TRUE(outcome.complete) << outcome.error;
  EXPECT_NEAR(outcome.metrics.cost_usd, 0.2, 1e-3);
  EXPECT_NEAR(outcome.metrics.job_cost_usd, 0.2, 1e-3);
  EXPECT_NEAR(outcome.log.job(0).cost, 0.1, 1e-3);
  const Outcome unpriced = run(traced("gavel-fifo-perf", row(lm, 1, 11000, 0), "1:0:0"));
  EXPECT_TRUE(std::isnan(unpriced.metrics.cost_usd));
  EXPECT_THAT(run(traced("gavel-fifo-perf", row(lm, 1, 11000, 0), "1:1:0", prices)).error,
              HasSubstr("no price for GPUs of type 'p100'"));
  // A file of prices that change, of two sellers.
  const std::string file = folder_
                               .write("prices.csv",
                                      "time_s,gpu_type,price,seller\n0,v100,7.2,a\n"
                                      "100,v100,3.6,a\n0,v100,36,b\n")
                               .string();
  const RunConfig changing = traced("gavel-fifo-perf", row(lm, 1, 22000, 0), "1:0:0",
                                    fmt::format("[prices]\nfile = '{}'\nsellers = ['a']\n", file));
  EXPECT_NEAR(run(changing).metrics.cost_usd, 0.2 + 0.1, 1e-3);
}

TEST_F(GavelRuns, BeliefsAboutPairsAreReplacedByWhatTheyDo) {
  const std::string beliefs = fmt::format(
      "beliefs = [{{name = 'estimated-throughputs', file = '{}', profiled = 0.3, references = 4}}]",
      table_);
  const Outcome known = run(drawn("gavel-gandiva"));
  const Outcome believed = run(drawn("gavel-gandiva:learns=true", beliefs));
  ASSERT_TRUE(believed.complete) << believed.error;
  EXPECT_EQ(believed.metrics.finished, 40);
  EXPECT_NEAR(believed.metrics.avg_jct_s, known.metrics.avg_jct_s, 0.25 * known.metrics.avg_jct_s);
}

TEST_F(GavelRuns, SteadyStatePrioritiesAndFixedDurations) {
  const RunConfig steady =
      drawn("gavel-isolated", "",
            "steady_state = '2:2:2'\nfixed_duration = 7200\nmulti_priority = true\n");
  const Outcome outcome = run(steady);
  ASSERT_TRUE(outcome.complete) << outcome.error;
  int at_start = 0;
  int urgent = 0;
  for (const JobRecord& job : outcome.log.jobs) {
    at_start += job.submit == 0 ? 1 : 0;
    urgent += job.priority == 5 ? 1 : 0;
    EXPECT_EQ(job.duration, 7200);
  }
  EXPECT_EQ(at_start, 6 + 1) << "one for each GPU, and the first of the stream";
  EXPECT_GT(urgent, 0);
  EXPECT_LT(urgent, 20);
}

TEST_F(GavelRuns, DeadlinesAreCountedBothWays) {
  RunConfig config = drawn("gavel-isolated", "", "deadlines = true\n");
  config.accounting = {"net"};
  const Outcome right = run(config);
  config.accounting = {"completion-time-deadlines"};
  const Outcome published = run(config);
  EXPECT_EQ(right.metrics.deadline_jobs, 40);
  EXPECT_EQ(right.metrics.avg_jct_s, published.metrics.avg_jct_s);
  EXPECT_GT(right.metrics.late_jobs, published.metrics.late_jobs)
      << "late arrivals hardly ever miss a deadline in Gavel's counting";
}

}  // namespace
}  // namespace muster
