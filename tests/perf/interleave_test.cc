// Jobs that take turns on the same GPUs: the formula, opportunistic jobs, and groups that cannot
// be.
#include "perf/interleave.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster {
namespace {

using ::testing::HasSubstr;

JobSpec job_with(double step_ms, StageTimes stages, const char* name = "a") {
  JobSpec job;
  job.step_ms = step_ms;
  job.stage_ms = stages;
  job.name = name;
  return job;
}

TEST(Interleaving, FourEqualStagesOfFourJobsKeepEverythingBusy) {
  const JobSpec job = job_with(4000, {1000, 1000, 1000, 1000});
  Interleaving rule;
  rule.merged_load = false;
  rule.stretch = {1, 1, 1, 1};
  const std::array four = {&job, &job, &job, &job};
  EXPECT_DOUBLE_EQ(rule.period(four), 4);
  EXPECT_DOUBLE_EQ(rule.efficiency(four), 1);
  EXPECT_DOUBLE_EQ(rule.efficiency(std::span(four).first(2)), 0.5);
}

// One only loads, the other only computes: side by side at best, one after the other at worst.
TEST(Interleaving, TheOrderOfStagesDecides) {
  const StageTimes loads{600, 0, 100, 0};
  const StageTimes computes{100, 0, 600, 0};
  std::array<StageTimes, 2> pair{};
  for (std::size_t i = 0; i < kStages; ++i) {
    pair[0][i] = loads[i] / 1000;
    pair[1][i] = computes[i] / 1000;
  }
  const double best = bare_period(pair, StageOrder::kBest, true);
  const double worst = bare_period(pair, StageOrder::kWorst, true);
  EXPECT_DOUBLE_EQ(best, 0.7);
  EXPECT_GT(worst, best);
  EXPECT_LE(worst, 1.4);
}

TEST(Interleaving, OneAloneTakesItsOwnStep) {
  const JobSpec job = job_with(100, {117, 0, 68, 0});
  const std::array alone = {&job};
  EXPECT_DOUBLE_EQ(Interleaving{}.period(alone), 0.1015);
}

// An opportunistic job waits for the moments in which the holder leaves what it needs.
TEST(Interleaving, AGuestGetsWhatIsLeft) {
  const Interleaving rule;
  const JobSpec holder = job_with(1000, {500, 0, 500, 0});
  const JobSpec light = job_with(100, {50, 0, 50, 0});
  // Its load fits into the holder's GPU stage and its GPU stage into the holder's load: two steps.
  EXPECT_DOUBLE_EQ(rule.opportunistic_step(light, holder), 2 * rule.solo(holder));
  const JobSpec heavy = job_with(2000, {1000, 0, 1000, 0});
  EXPECT_DOUBLE_EQ(rule.opportunistic_step(heavy, holder), 4 * rule.solo(holder));
  // Beside one that does nothing but load there is never room to load: they take turns.
  const JobSpec loader = job_with(1000, {1000, 0, 0, 0});
  EXPECT_DOUBLE_EQ(rule.opportunistic_step(light, loader), rule.solo(light) + rule.solo(loader));
}

std::string complaint(std::span<const JobSpec* const> members, std::vector<double> memory,
                      double gpu) {
  const Status checked = check_group(members, memory, gpu);
  return checked ? "" : checked.error().message;
}

TEST(Interleaving, SaysWhyJobsCannotShare) {
  const JobSpec good = job_with(100, {10, 0, 80, 10}, "good");
  const JobSpec stepless = job_with(0, {10, 0, 80, 10}, "stepless");
  const JobSpec stageless = job_with(100, {}, "stageless");
  const std::array two = {&good, &good};
  const std::array five = {&good, &good, &good, &good, &good};
  const std::array with_stepless = {&good, &stepless};
  const std::array with_stageless = {&good, &stageless};
  const std::array alone = {&stageless};
  EXPECT_EQ(complaint(two, {8000, 8000}, 16384), "");
  EXPECT_EQ(complaint(two, {8000, 9000}, 0), "");
  EXPECT_EQ(complaint(alone, {}, 0), "");
  EXPECT_EQ(complaint(two, {8000, 9000}, 16384),
            "jobs good, good need 17000 MB together, but a GPU has 16384: group fewer of them");
  EXPECT_THAT(complaint(five, {}, 0), HasSubstr("a group of 5 jobs: one to 4"));
  EXPECT_THAT(complaint({}, {}, 0), HasSubstr("a group of 0 jobs"));
  EXPECT_THAT(complaint(with_stepless, {}, 0),
              HasSubstr("job stepless cannot share GPUs: the duration of its step is not known"));
  EXPECT_THAT(complaint(with_stageless, {}, 0), HasSubstr("none of its stages has a duration"));
}

}  // namespace
}  // namespace muster
