// AntMan: jobs with guaranteed resources, and opportunistic jobs that use what those leave.
#include <gtest/gtest.h>

#include "support/simulation.h"

namespace muster {
namespace {

JobSpec staged(Seconds arrival, double steps, int gpus, int priority) {
  JobSpec job = job_of(arrival, steps, gpus);
  job.iterations = steps;
  job.step_ms = 1000;
  job.stage_ms = {500, 0, 500, 0};
  job.priority = priority;
  return job;
}

Scenario antman(std::vector<JobSpec> jobs) {
  Scenario scenario;
  scenario.cluster = uniform_cluster(2, 4);
  scenario.jobs = std::move(jobs);
  scenario.scheduling = {"antman"};
  scenario.placement = {"antman"};
  scenario.perf = {{"interleave", {{"stretch_1", "1"}}}};
  return scenario;
}

TEST(AntMan, AGuestRunsAtOnceAndSlowsNobodyDown) {
  const RunLog log =
      simulate(antman({staged(0, 100, 4, 0), staged(0, 100, 4, 0), staged(0, 40, 8, -1)}));
  EXPECT_DOUBLE_EQ(log.job(0).end, 100);
  EXPECT_DOUBLE_EQ(log.job(1).end, 100);
  // Two steps of the holder for one of its own; 40 steps take 80 s.
  EXPECT_DOUBLE_EQ(log.job(2).start, 0);
  EXPECT_DOUBLE_EQ(log.job(2).end, 80);
}

TEST(AntMan, AGuestGoesFasterOnceTheHolderHasLeft) {
  const RunLog log = simulate(antman({staged(0, 20, 8, 0), staged(0, 40, 8, -1)}));
  EXPECT_DOUBLE_EQ(log.job(0).end, 20);
  // 10 steps beside the holder, then 30 alone.
  EXPECT_DOUBLE_EQ(log.job(1).end, 50);
}

TEST(AntMan, AGuaranteedJobIsNotHeldUpByGuests) {
  const RunLog log = simulate(antman({staged(0, 100, 8, -1), staged(10, 20, 8, 0)}));
  EXPECT_DOUBLE_EQ(log.job(1).start, 10);
  EXPECT_DOUBLE_EQ(log.job(1).end, 30);
  // 10 steps alone, 10 beside the holder, 80 alone.
  EXPECT_DOUBLE_EQ(log.job(0).end, 110);
}

TEST(AntMan, NoTwoGuestsOnAGpu) {
  const RunLog log = simulate(antman({staged(0, 50, 8, -1), staged(0, 50, 4, -1)}));
  EXPECT_DOUBLE_EQ(log.job(0).end, 50);
  EXPECT_DOUBLE_EQ(log.job(1).start, 50);
}

// What becomes free on the node it has reserved goes to it, not to those behind.
TEST(AntMan, AWaitingJobKeepsWhatItHasReserved) {
  const RunLog log = simulate(antman(
      {staged(0, 100, 2, 0), staged(0, 50, 4, 0), staged(1, 10, 4, 0), staged(2, 10, 2, 0)}));
  // Job 2 reserved the two free GPUs of node 0; job 3 has to wait for job 1 on node 1.
  EXPECT_DOUBLE_EQ(log.job(3).start, 50);
  EXPECT_DOUBLE_EQ(log.job(2).start, 100);
}

// Jobs 4 and 5 reserve the free GPU of a node each, for what they want beside a whole one. Once
// jobs 1 and 2 have left, job 3 has the first node and wants another: it gets one of these.
TEST(AntMan, WhoeverWantsWholeNodesIsNotKeptFromThemByThoseBehind) {
  Scenario scenario = antman({staged(0, 100, 4, 0), staged(0, 200, 3, 0), staged(0, 200, 3, 0),
                              staged(10, 50, 8, 0), staged(11, 50, 5, 0), staged(11, 50, 5, 0)});
  scenario.cluster = uniform_cluster(3, 4);
  const RunLog log = simulate(std::move(scenario));
  EXPECT_DOUBLE_EQ(log.job(3).start, 200);
  EXPECT_DOUBLE_EQ(log.job(4).start, 250);
  EXPECT_DOUBLE_EQ(log.job(5).start, 250);
}

// Job 0 loses its node and comes back before job 3, which holds half of the other node by then: two
// that waited for each other's half would wait for ever.
TEST(AntMan, WhoComesBackTakesWhatLaterJobsHaveReserved) {
  Scenario scenario = antman(
      {staged(0, 200, 4, 0), staged(0, 50, 2, 0), staged(0, 100, 2, 0), staged(1, 10, 4, 0)});
  JobEvent change;
  change.node = NodeId{0};
  change.kind = EventKind::kNodeDown;
  change.time = 60;
  scenario.injected.push_back(change);
  change.kind = EventKind::kNodeUp;
  change.time = 150;
  scenario.injected.push_back(change);
  const RunLog log = simulate(std::move(scenario));
  EXPECT_EQ(log.lines({Action::kStart}), (std::vector<std::string>{
                                             "0 start 0 gpus=4 other=- detail=0 first-in-order",
                                             "0 start 1 gpus=2 other=- detail=1 first-in-order",
                                             "0 start 2 gpus=2 other=- detail=1 first-in-order",
                                             "100 start 0 gpus=4 other=- detail=1 first-in-order",
                                             "150 start 3 gpus=4 other=- detail=0 first-in-order",
                                         }));
}

// The emptiest node is of no use if it is too small for what has to be on one.
TEST(AntMan, NothingIsReservedWhereTheRestCanNeverBe) {
  Scenario scenario = antman({staged(0, 50, 6, 0), staged(1, 10, 6, 0)});
  scenario.cluster = uniform_cluster(1, 4);
  scenario.cluster.nodes.push_back({.gpus = 8});
  EXPECT_DOUBLE_EQ(simulate(scenario).job(1).start, 50);
  // Nor does what is more than a large node use up the only one.
  scenario.jobs = {staged(0, 50, 6, 0), staged(1, 10, 10, 0)};
  std::swap(scenario.cluster.nodes[0], scenario.cluster.nodes[1]);
  EXPECT_DOUBLE_EQ(simulate(scenario).job(1).start, 50);
}

TEST(AntMan, GuestsCountAsUseOfIdleGpus) {
  const RunLog log = simulate(antman({staged(0, 50, 6, -1)}));
  ASSERT_FALSE(log.turns.empty());
  EXPECT_EQ(log.turns.front().used_gpus, 6);
}

}  // namespace
}  // namespace muster
