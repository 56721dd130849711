// Jobs that are held or refused: when they come, or once it is clear that they can never run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/scripted_policy.h"
#include "support/simulation.h"

namespace muster {
namespace {

using ::testing::ElementsAre;

TEST(NeverFits, IsSaidAtOnce) {
  Scenario scenario;
  scenario.cluster = uniform_cluster(2, 4);
  const Symbol v100 = scenario.symbols->intern("v100");
  const Symbol small = scenario.symbols->intern("small");
  scenario.cluster.partitions = {{small, 2}};
  scenario.jobs = {job_of(0, 10, 9), job_of(1, 10, 0), job_of(2, 10, 1), job_of(3, 10, 4),
                   job_of(4, 10, 8)};
  scenario.jobs[2].gpu_type = v100;    // no such node
  scenario.jobs[3].partition = small;  // above its quota
  const RunLog log = simulate(scenario);
  for (const int id : {0, 1, 2, 3}) {
    EXPECT_EQ(log.job(id).status, JobState::kRefused) << id;
    EXPECT_EQ(log.job(id).reason, id == 2 ? Reason::kNoGpuType : Reason::kNeverFits) << id;
    EXPECT_EQ(log.job(id).end, id) << id;
    EXPECT_EQ(log.job(id).start, kNever) << id;
    EXPECT_EQ(log.job(id).queue, 0) << id;
  }
  EXPECT_EQ(log.job(4).status, JobState::kFinished);
  scenario.placement = {"consolidated", {{"one_node", "true"}}};
  EXPECT_EQ(simulate(scenario).job(4).status, JobState::kRefused);
}

// Where the cluster has partitions, a job of another one has no place; where it has none, they do
// not matter.
TEST(Arrivals, AnUnknownPartitionIsRefused) {
  Scenario scenario;
  const Symbol research{5};
  const Symbol shared{6};
  const Symbol unknown{7};
  scenario.cluster = uniform_cluster(2, 4);
  scenario.jobs = {job_of(0, 10, 1), job_of(1, 10, 1), job_of(2, 10, 1), job_of(3, 10, 1)};
  scenario.jobs[0].partition = research;
  scenario.jobs[1].partition = shared;
  scenario.jobs[2].partition = unknown;
  const RunLog open = simulate(scenario);
  for (const int id : {0, 1, 2, 3}) EXPECT_EQ(open.job(id).status, JobState::kFinished) << id;

  scenario.cluster.nodes[0].partition = research;
  scenario.cluster.partitions = {{shared, 2}};
  const RunLog log = simulate(scenario);
  for (const int id : {0, 1, 3}) EXPECT_EQ(log.job(id).status, JobState::kFinished) << id;
  EXPECT_EQ(log.job(2).status, JobState::kRefused);
  EXPECT_EQ(log.job(2).reason, Reason::kNoPartition);
}

Scenario one_of_two_nodes_leaves() {
  Scenario scenario;
  scenario.cluster = uniform_cluster(2, 4);
  scenario.cluster.schedule = {{5, NodeId{1}, false}};
  return scenario;
}

// The node that a large job needs has left for good. It is refused; the one behind it can run then.
TEST(DeadlockCheck, RefusesOnlyJobsThatCannotRun) {
  Scenario scenario = one_of_two_nodes_leaves();
  scenario.jobs = {job_of(0, 20, 4), job_of(10, 10, 8), job_of(11, 10, 4)};
  scenario.placement = {"consolidated", {{"backfill", "false"}}};
  const RunLog log = simulate(scenario);
  EXPECT_EQ(log.job(1).status, JobState::kRefused);
  EXPECT_EQ(log.job(1).reason, Reason::kNeverFits);
  EXPECT_EQ(log.job(1).end, 20);
  EXPECT_EQ(log.job(2).status, JobState::kFinished);
  EXPECT_EQ(log.job(2).start, 20);
  EXPECT_EQ(log.job(2).end, 30);
}

TEST(DeadlockCheck, OfAJobThatHasRunIsAFailure) {
  Scenario scenario;
  scenario.cluster = uniform_cluster(1, 4);
  scenario.cluster.schedule = {{5, NodeId{0}, false}};
  scenario.jobs = {job_of(0, 20, 4)};
  scenario.jobs.push_back(job_of(1, 20, 4));
  for (const char* pacing : {"events", "rounds"}) {
    for (const char* policy : {"fifo", "las", "srtf"}) {
      scenario.pacing = {pacing};
      scenario.scheduling = {policy};
      const RunLog log = simulate(scenario);
      EXPECT_EQ(log.job(0).status, JobState::kFailed) << pacing << ' ' << policy;
      EXPECT_EQ(log.job(0).reason, Reason::kNeverFits);
      EXPECT_EQ(log.job(1).reason, Reason::kNeverFits);
    }
  }
}

// Failures that go on for ever must not keep a hopeless job waiting for ever.
TEST(DeadlockCheck, IsFoundAlthoughNodesComeAndGo) {
  Scenario scenario = one_of_two_nodes_leaves();
  scenario.jobs = {job_of(10, 10, 8)};
  scenario.failures.node_mtbf = 100;
  scenario.failures.node_repair = 10;
  EXPECT_EQ(simulate(scenario).job(0).status, JobState::kRefused);
}

// What has left for good is nothing to wait for, however rarely the others fail.
TEST(DeadlockCheck, IsFoundAtOnceWhereAllAreThereThatWillEverBe) {
  Scenario scenario = one_of_two_nodes_leaves();
  scenario.jobs = {job_of(10, 10, 8)};
  scenario.failures.node_mtbf = 1e6;
  const RunLog log = simulate(scenario);
  EXPECT_EQ(log.job(0).status, JobState::kRefused);
  EXPECT_EQ(log.job(0).end, 10);
}

constexpr SchedulingTraits kIdles = {
    .preemptive = true, .stable_between_events = false, .work_conserving = false};

// A policy that leaves GPUs idle on purpose, and says until when, is waited for.
TEST(DeadlockCheck, IsNotWhereAPolicyWaitsOnPurpose) {
  Scenario scenario;
  scenario.jobs = {job_of(0, 10)};
  scenario.policy_sets = scripted_set(
      [](const View& view, Plan& plan) {
        if (view.now >= 100) add_request(view, plan, {0}, 1);
      },
      {100}, kIdles);
  EXPECT_EQ(simulate(scenario).job(0).end, 110);
}

TEST(DeadlockCheck, IsWhereAPolicyNeverActs) {
  Scenario scenario;
  scenario.jobs = {job_of(0, 10)};
  scenario.policy_sets = scripted_set([](const View&, Plan&) {}, {}, kIdles);
  for (const char* pacing : {"events", "rounds", "slots", "ticks"}) {
    scenario.pacing = {pacing};
    EXPECT_EQ(simulate(scenario).job(0).status, JobState::kRefused) << pacing;
  }
}

TEST(Admission, HeldJobsAreLoggedOnceAndEnterInOrder) {
  Scenario scenario;
  scenario.cluster = uniform_cluster(1, 2);
  scenario.admission = {"load-threshold", {{"threshold", "1"}}};
  scenario.jobs = {job_of(0, 10, 2), job_of(1, 10, 2), job_of(2, 10, 2), job_of(3, 1, 1)};
  const RunLog log = simulate(scenario);
  EXPECT_THAT(log.lines({Action::kHold, Action::kAdmit}),
              ElementsAre("0 admit 0 gpus=2 other=- detail=0 accepted",
                          "1 admit 1 gpus=2 other=- detail=0 accepted",
                          "2 hold 2 gpus=2 other=- detail=0 load-limit",
                          "3 hold 3 gpus=1 other=- detail=0 outranked",
                          "10 admit 2 gpus=2 other=- detail=0 accepted",
                          "20 admit 3 gpus=1 other=- detail=0 accepted"));
  EXPECT_EQ(log.job(3).queue, log.job(3).start - 3);
}

}  // namespace
}  // namespace muster
