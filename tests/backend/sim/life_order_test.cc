// Stops, moves and starts that overtake each other or their reports. Timelines are computed by
// hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/simulation.h"

namespace muster {
namespace {

using ::testing::ElementsAre;

// One GPU on each node; the job with the shortest remaining time goes first.
Scenario on_gpus(int gpus, std::vector<JobSpec> jobs, double start, double stop) {
  Scenario scenario;
  scenario.cluster = uniform_cluster(gpus, 1);
  scenario.jobs = std::move(jobs);
  scenario.scheduling = {"srtf"};
  scenario.life.start_latency = start;
  scenario.life.stop_latency = stop;
  scenario.life.spread = 0;
  return scenario;
}

// Job 0 is told to leave at 80 and done at 101, before it has left. It is given the GPU of job 1 at
// 82, and job 3 takes that one at 84.
TEST(LifeOrder, AJobThatFinishesWhileItIsStoppedStaysFinishedIfItWasStartedAndStoppedAgain) {
  const RunLog log =
      simulate(on_gpus(2, {job_of(0, 100), job_of(0, 81), job_of(80, 5), job_of(84, 3)}, 1, 60));
  EXPECT_EQ(log.job(0).end, 140);
  EXPECT_EQ(log.job(0).gpu_seconds, 79) << "from its start at 1 to the order to leave";
  EXPECT_EQ(log.job(3).end, 88);
  EXPECT_EQ(log.job(2).end, 146);
}

// The same on one GPU, and that it was done is heard only at the census.
TEST(LifeOrder, ALaunchWaitsForTheEndOfTheOneBeforeToBeHeard) {
  Scenario scenario = on_gpus(1, {job_of(0, 100), job_of(80, 5)}, 1, 60);
  scenario.life.report_loss = 0.5;
  scenario.life.census = 600;
  int late = 0;
  for (scenario.life.seed = 1; scenario.life.seed <= 40; ++scenario.life.seed) {
    const JobRecord first = simulate(scenario).job(0);
    late += first.end == 600 ? 1 : 0;
    EXPECT_LE(first.gpu_seconds, 79) << "seed " << scenario.life.seed << ": it ran again";
  }
  EXPECT_GT(late, 5);
}

// What has happened in the cluster and is not known yet is no reason for a turn.
TEST(LifeOrder, TurnsComeWithReportsAndNotBefore) {
  Scenario scenario = on_gpus(1, {job_of(0, 1000)}, 30, 0);
  scenario.life.report_delay = 20;
  scenario.scheduling = {"las"};
  std::vector<Seconds> turns;
  for (const TurnStats& turn : simulate(scenario).turns) turns.push_back(turn.time);
  EXPECT_THAT(turns, ElementsAre(0, 1050));
}

// Every new job changes the sizes of the others, some of them while they start.
TEST(LifeOrder, AJobThatIsResizedWhileItStartsKeepsItsWork) {
  Scenario scenario = on_gpus(1, {}, 30, 10);
  scenario.cluster = uniform_cluster(1, 8);
  scenario.scheduling = {"optimus"};
  scenario.perf = {{"scaling"}};
  for (const Seconds arrival : {0, 1000, 1010}) {
    scenario.jobs.push_back(stretchable_job(arrival, 10000, 8));
  }
  const RunLog log = simulate(scenario);
  int resizes = 0;
  for (const JobRecord& job : log.jobs) {
    EXPECT_EQ(job.lost_work, 0) << "job " << index(job.id);
    resizes += job.resizes;
  }
  EXPECT_GT(resizes, 2);
}

// Job 0 has worked from 1 to 30, which is heard of at 51. It leaves at 40, which is heard of at 90;
// job 1 works from 41 to 46, heard of at 96. 71 s are left from 97 on.
TEST(LifeOrder, AJobThatIsStoppedBeforeItsStartIsHeardOfKeepsItsWork) {
  Scenario scenario = on_gpus(1, {job_of(0, 100), job_of(30, 5)}, 1, 10);
  scenario.life.report_delay = 50;
  const RunLog log = simulate(scenario);
  EXPECT_EQ(log.job(1).end, 96);
  EXPECT_EQ(log.job(0).end, 218);
  EXPECT_EQ(log.job(0).lost_work, 0);
  // One that has done all its work by then is finished.
  scenario.jobs[0].duration = 38;
  EXPECT_EQ(simulate(scenario).job(0).end, 90);
}

// Job 0 has worked for 29 s when it is told to leave, of which a checkpoint holds 20. The node is
// lost while it saves the rest.
TEST(LifeOrder, AStopOnANodeThatIsLostKeepsTheLastCheckpoint) {
  Scenario scenario = on_gpus(1, {job_of(0, 100), job_of(30, 5)}, 1, 60);
  scenario.cost.checkpoint_interval = 10;
  scenario.cluster.schedule = {{50, NodeId{0}, false}, {200, NodeId{0}, true}};
  const RunLog log = simulate(scenario);
  EXPECT_EQ(log.job(1).end, 206);
  EXPECT_EQ(log.job(0).lost_work, 9);
  EXPECT_EQ(log.job(0).end, 287);
}

}  // namespace
}  // namespace muster
