// Commands that take time, fail and are heard of late. Timelines are computed by hand.
#include <ctime>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/simulation.h"

namespace muster {
namespace {

// A long job on the only GPU, and a short one that takes it at 30 s.
Scenario slow_commands() {
  Scenario scenario;
  scenario.cluster = uniform_cluster(1, 1);
  scenario.jobs = {job_of(0, 100), job_of(30, 5)};
  scenario.scheduling = {"srtf"};
  scenario.life.start_latency = 10;
  scenario.life.stop_latency = 20;
  scenario.life.spread = 0;
  return scenario;
}

TEST(Life, StartsAndStopsTakeTime) {
  const RunLog log = simulate(slow_commands());
  // It works from 10 to 30 and leaves the GPU at 50; the other works from 60 to 65; then it needs
  // until 75 to start and has 80 s left.
  const JobRecord first = log.job(0);
  EXPECT_EQ(first.start, 10);
  EXPECT_EQ(first.end, 155);
  EXPECT_EQ(first.queue, 10 + 45);
  EXPECT_EQ(first.gpu_seconds, 20 + 80);
  EXPECT_EQ(first.overhead, 20);
  EXPECT_EQ(first.preemptions, 1);
  EXPECT_EQ(first.restarts, 0);
  EXPECT_EQ(first.lost_work, 0);
  const JobRecord second = log.job(1);
  EXPECT_EQ(second.start, 60);
  EXPECT_EQ(second.end, 65);
  EXPECT_EQ(second.queue, 30);
}

TEST(Life, RestartCostsComeOnTop) {
  Scenario scenario = slow_commands();
  scenario.cost.first_start = 1;
  scenario.cost.restart = 3;
  const RunLog log = simulate(scenario);
  EXPECT_EQ(log.job(1).end, 66);
  // 19 s of work by 30, then 81 s from 66 + 10 + 3 on.
  EXPECT_EQ(log.job(0).end, 160);
  EXPECT_EQ(log.job(0).overhead, 1 + 20 + 3);
}

TEST(Life, WhoIsDoneBeforeItsStopIsFinished) {
  Scenario scenario = slow_commands();
  scenario.jobs[0].duration = 30;  // 10 s are left when it is told to stop
  scenario.jobs[1].duration = 1;
  const RunLog log = simulate(scenario);
  EXPECT_EQ(log.job(0).status, JobState::kFinished);
  EXPECT_EQ(log.job(0).end, 50);
  EXPECT_THAT(log.lines({Action::kStart}), ::testing::SizeIs(2));
}

// The seed with which exactly the first launch of the job fails.
std::uint64_t seed_that_fails_once(LifeOptions life) {
  for (life.seed = 1;; ++life.seed) {
    if (fate_of({JobId{0}, 1}, life).fails && !fate_of({JobId{0}, 2}, life).fails) return life.seed;
  }
}

TEST(Life, AStartThatFailsIsTriedAgain) {
  Scenario scenario = slow_commands();
  scenario.jobs.resize(1);
  scenario.life.start_failure = 0.3;
  scenario.life.seed = seed_that_fails_once(scenario.life);
  const RunLog log = simulate(scenario);
  // Failed at 10, tried again at 20, works from 30 on.
  EXPECT_EQ(log.job(0).start, 30);
  EXPECT_EQ(log.job(0).end, 130);
  EXPECT_EQ(log.job(0).queue, 30);
  EXPECT_EQ(log.job(0).gpu_seconds, 100);
  EXPECT_EQ(log.job(0).restarts, 0);
  EXPECT_THAT(log.lines({Action::kStop}),
              ::testing::ElementsAre("10 stop 0 gpus=1 other=- detail=0 start-failed"));
}

// Only a part of a gang comes up: nobody hears anything until the limit has passed.
TEST(Life, AGangThatComesUpInPartIsGivenUp) {
  Scenario scenario = slow_commands();
  scenario.cluster = uniform_cluster(2, 1);
  scenario.jobs = {job_of(0, 100, 2)};
  scenario.life.partial_gang = 0.3;
  scenario.life.start_limit = 90;
  for (scenario.life.seed = 1;; ++scenario.life.seed) {
    if (fate_of({JobId{0}, 1}, scenario.life).partial &&
        !fate_of({JobId{0}, 2}, scenario.life).partial) {
      break;
    }
  }
  const RunLog log = simulate(scenario);
  EXPECT_EQ(log.job(0).start, 90 + 10 + 10);
  EXPECT_EQ(log.job(0).end, 210);
}

TEST(Life, WordsThatAreLostAreFoundByTheCensus) {
  Scenario scenario = slow_commands();
  scenario.jobs.resize(1);
  scenario.life.report_loss = 0.5;
  scenario.life.census = 60;
  for (scenario.life.seed = 1;; ++scenario.life.seed) {
    const LaunchFate fate = fate_of({JobId{0}, 1}, scenario.life);
    if (!fate.start_lost && fate.end_lost) break;
  }
  const RunLog log = simulate(scenario);
  EXPECT_EQ(log.job(0).start, 10);
  EXPECT_EQ(log.job(0).end, 120) << "done at 110, heard of at 120";
}

// A start that is heard of late has been at work meanwhile.
TEST(Life, WorkCountsFromTheStartAndNotFromTheWordOfIt) {
  Scenario scenario = slow_commands();
  scenario.jobs.resize(1);
  scenario.life.report_delay = 4;
  const RunLog log = simulate(scenario);
  EXPECT_EQ(log.job(0).start, 14);
  EXPECT_EQ(log.job(0).end, 114) << "done at 110, heard of at 114";
}

// The second job is done at 470. At 580 the census finds that the first one has left its GPU: after
// that nothing is known to come.
TEST(Life, AnEndThatWaitsForItsTickIsNotLost) {
  for (const char* pacing : {"ticks", "rounds", "slots"}) {
    SCOPED_TRACE(pacing);
    Scenario scenario;
    scenario.cluster = uniform_cluster(1, 1);
    scenario.jobs = {job_of(0, 1000), job_of(250, 20)};
    scenario.scheduling = {"srtf"};
    scenario.pacing = {pacing, {{"length", "300"}}};
    scenario.life.stop_latency = 150;
    scenario.life.report_loss = 0.5;
    scenario.life.census = 290;
    scenario.life.spread = 0;
    const auto lost = [&](std::uint32_t job, std::uint32_t launch) {
      const LaunchFate fate = fate_of({JobId{job}, launch}, scenario.life);
      return std::pair{fate.start_lost, fate.end_lost};
    };
    for (scenario.life.seed = 1;; ++scenario.life.seed) {
      const std::pair none{false, false};
      if (lost(0, 1) == std::pair{false, true} && lost(0, 2) == none && lost(1, 1) == none) break;
    }
    const RunLog log = simulate(scenario);
    ASSERT_EQ(log.jobs.size(), 2U);
    const bool exact = std::string_view(pacing) == "slots";
    EXPECT_EQ(log.job(1).end, exact ? 470 : 600);
    EXPECT_EQ(log.job(0).end, exact ? 1300 : 1500) << "it is started again at 600";
  }
}

// The second job is done at 1000. At 1050 the first one has left, and the third one begins at 1450.
TEST(Life, AnEndIsBookedAtItsTickWhateverIsAnsweredMeanwhile) {
  for (const char* pacing : {"ticks", "rounds", "slots"}) {
    SCOPED_TRACE(pacing);
    Scenario scenario;
    scenario.cluster = uniform_cluster(1, 2);
    scenario.jobs = {job_of(0, 5000), job_of(0, 600), job_of(900, 200)};
    scenario.scheduling = {"srtf"};
    scenario.pacing = {pacing, {{"length", "300"}}};
    scenario.life.start_latency = 400;
    scenario.life.stop_latency = 150;
    scenario.life.spread = 0;
    const RunLog log = simulate(scenario);
    EXPECT_EQ(log.job(1).end, std::string_view(pacing) == "slots" ? 1000 : 1200);
    const auto at_1200 = [](const TurnStats& turn) { return turn.time == 1200; };
    EXPECT_TRUE(std::any_of(log.turns.begin(), log.turns.end(), at_1200));
  }
}

// Processor seconds of half an hour in which everybody takes turns: two jobs for each GPU.
double cost_of_rotating(int nodes) {
  Scenario scenario;
  scenario.cluster = uniform_cluster(nodes, 8);
  for (int i = 0; i < 16 * nodes; ++i) scenario.jobs.push_back(job_of(0, 1e5));
  scenario.scheduling = {"las"};
  scenario.pacing = {"rounds", {{"length", "60"}}};
  scenario.life.start_latency = 30;
  scenario.life.stop_latency = 60;
  scenario.options.until = 1800;
  double best = 1e9;
  for (int i = 0; i < 3; ++i) {
    const std::clock_t began = std::clock();
    TestRun run(scenario);
    while (run.engine().turn()) continue;
    best = std::min(best, static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC);
  }
  return best;
}

// Whoever leaves wakes those who wait for its GPUs. To look at all pairs would be 64 times as much.
TEST(Life, CostsEightTimesAsMuchOnEightTimesTheClusterSlow) {
  EXPECT_LT(cost_of_rotating(64), 25 * cost_of_rotating(8));
}

TEST(Life, IsTheSameForEveryPolicyLaunchByLaunch) {
  LifeOptions life;
  life.start_latency = 10;
  life.start_failure = 0.5;
  const LaunchFate once = fate_of({JobId{7}, 2}, life);
  const LaunchFate again = fate_of({JobId{7}, 2}, life);
  EXPECT_EQ(once.start, again.start);
  EXPECT_EQ(once.fails, again.fails);
  EXPECT_GE(once.start, 5);
  EXPECT_LE(once.start, 15);
  int failures = 0;
  for (std::uint32_t job = 0; job < 1000; ++job) failures += fate_of({JobId{job}, 1}, life).fails;
  EXPECT_NEAR(failures, 500, 60);
}

}  // namespace
}  // namespace muster
