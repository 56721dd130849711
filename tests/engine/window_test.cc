// When a run ends: with a window, with the jobs that are looked at, or at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/simulation.h"

namespace muster {
namespace {

using ::testing::IsEmpty;

TEST(Window, EndsWithTheLastTurnBeforeIt) {
  Scenario scenario;
  scenario.jobs = {job_of(0, 10), job_of(20, 100), job_of(200, 10)};
  scenario.options.until = 50;
  TestRun simulation(scenario);
  const RunLog& log = simulation.run();
  EXPECT_EQ(log.jobs.size(), 1U);
  EXPECT_EQ(simulation.engine().now(), 20);
  EXPECT_EQ(simulation.engine().jobs().active().size(), 1U);
  scenario.pacing = {"rounds", {{"length", "30"}}};
  EXPECT_EQ(simulate(scenario).turns.back().time, 30);
}

TEST(Window, EndsWhenTheTrackedJobsHaveLeft) {
  Scenario scenario;
  scenario.cluster = uniform_cluster(1, 1);
  for (int i = 0; i < 6; ++i) scenario.jobs.push_back(job_of(i, 10));
  scenario.options.until_left = {JobId{1}, JobId{2}};
  TestRun simulation(scenario);
  const RunLog& log = simulation.run();
  EXPECT_EQ(log.jobs.size(), 3U);
  EXPECT_EQ(simulation.engine().now(), 30);
}

TEST(EmptyTrace, HasNoTurns) {
  const Scenario empty;
  TestRun simulation(empty);
  EXPECT_FALSE(simulation.engine().turn());
  EXPECT_THAT(simulation.log().turns, IsEmpty());
}

}  // namespace
}  // namespace muster
