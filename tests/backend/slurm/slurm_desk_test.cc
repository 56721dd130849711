// Launches on Slurm, step by step: held, placed, released, stopped, refused, ended.
#include <gmock/gmock.h>

#include "backend/slurm/slurm_desk_fixture.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(SlurmDeskTest, HoldsPlacesReleasesAndFinishes) {
  slurm_.work_of_new_jobs = 10;
  desk_->prepare(order(1, 1, {0b11, 0b11}));
  pass(0.5);
  EXPECT_THAT(events(kFirst), ElementsAre(RunEvent::kReady));
  const SlurmInMemory::Job& job = slurm_.job(1);
  EXPECT_TRUE(job.row.held);
  EXPECT_EQ(job.row.comment, "muster/lab/-/1/1/0/2");
  EXPECT_THAT(job.placed.nodes, ElementsAre("n1", "n2"));
  EXPECT_EQ(job.placed.per_node, "gres:gpu:2");
  EXPECT_EQ(job.placed.tasks, 2);
  pass(5);
  EXPECT_EQ(slurm_.running(), 0) << "nothing runs before it is told to go";
  desk_->go(kFirst, slurm_.now());
  pass(2);
  EXPECT_THAT(events(kFirst), ElementsAre(RunEvent::kReady, RunEvent::kStarted));
  pass(12);
  EXPECT_EQ(last(kFirst).event, RunEvent::kExited);
  EXPECT_EQ(last(kFirst).outcome, RunOutcome::kFinished);
}

TEST_F(SlurmDeskTest, UnevenShapesAreLeftToSlurm) {
  desk_->prepare(order(1, 1, {0b111, 0b1}));
  pass(0.5);
  EXPECT_EQ(slurm_.job(1).placed.per_node, "");
  EXPECT_EQ(slurm_.job(1).placed.per_job, "gres:gpu:4");
}

TEST_F(SlurmDeskTest, PreemptsAndResumesTheSameJobElsewhere) {
  run(order(1, 1));
  desk_->stop(kFirst, Grace{30}, slurm_.now());
  pass(1);
  EXPECT_THAT(slurm_.job(1).signals, ElementsAre("TERM"));
  EXPECT_EQ(last(kFirst).outcome, RunOutcome::kStopped);
  EXPECT_EQ(slurm_.job(1).row.state, SlurmState::kPending);
  EXPECT_TRUE(slurm_.job(1).row.held);
  desk_->acknowledge(kFirst);
  run(order(1, 2, {0, 0b1111}));
  EXPECT_EQ(slurm_.all().size(), 1U) << "one job of Slurm for all launches";
  EXPECT_EQ(slurm_.job(1).row.state, SlurmState::kRunning);
  EXPECT_EQ(slurm_.job(1).row.nodes, "n2");
  EXPECT_EQ(slurm_.job(1).row.comment, "muster/lab/-/1/2/1/1");
  EXPECT_THAT(slurm_.violations, IsEmpty());
}

TEST_F(SlurmDeskTest, WhatDoesNotLeaveIsRequeuedAfterItsGrace) {
  run(order(1, 1));
  slurm_.job(1).heeds_signals = false;
  desk_->stop(kFirst, Grace{5}, slurm_.now());
  pass(4);
  EXPECT_EQ(slurm_.running(), 1);
  pass(3);
  EXPECT_EQ(last(kFirst).event, RunEvent::kExited);
  EXPECT_EQ(last(kFirst).outcome, RunOutcome::kStopped);
}

TEST_F(SlurmDeskTest, NoRestartWithinTheSameSecond) {
  for (std::uint32_t launch = 1; launch <= 30; ++launch) {
    const RunOrder one = order(1, launch);
    desk_->prepare(one);
    pass(0.15);
    desk_->go(one.run, slurm_.now());
    pass(2.2);
    ASSERT_EQ(slurm_.running(), 1) << launch;
    desk_->stop(one.run, Grace{0}, slurm_.now());
    pass(0.35);
    desk_->acknowledge(one.run);
  }
  EXPECT_THAT(slurm_.violations, IsEmpty());
}

TEST_F(SlurmDeskTest, AStopBeforeTheStartNeverStarts) {
  desk_->stop(kFirst, Grace{1}, slurm_.now());
  desk_->prepare(order(1, 1));
  pass(3);
  EXPECT_THAT(events(kFirst), ElementsAre(RunEvent::kStartFailed));
  EXPECT_EQ(slurm_.all().size(), 0U);
  // Released, and not yet begun: others are on its GPUs.
  slurm_.user_submits(4, false);
  pass(1);
  desk_->prepare(order(2, 1));
  pass(0.5);
  desk_->go({JobId{2}, 1}, slurm_.now());
  pass(2);
  EXPECT_THAT(events({JobId{2}, 1}), ElementsAre(RunEvent::kReady));
  desk_->stop({JobId{2}, 1}, Grace{10}, slurm_.now());
  pass(2);
  EXPECT_EQ(last({JobId{2}, 1}).event, RunEvent::kStartFailed);
  EXPECT_TRUE(slurm_.job(2).row.held);
}

TEST_F(SlurmDeskTest, AStartOnADrainedNodeIsGivenUp) {
  slurm_.drain("n1", true);
  desk_->prepare(order(1, 1));
  pass(0.5);
  desk_->go(kFirst, slurm_.now());
  pass(3);
  EXPECT_EQ(last(kFirst).event, RunEvent::kStartFailed);
  EXPECT_TRUE(slurm_.job(1).row.held);
}

TEST_F(SlurmDeskTest, AStartThatSlurmRefusesIsGivenUpWithItsReason) {
  slurm_.refuses[1] = "BadConstraints";
  run(order(1, 1));
  EXPECT_EQ(last(kFirst).event, RunEvent::kStartFailed);
  EXPECT_EQ(last(kFirst).detail, "Slurm does not start it on n1: BadConstraints");
  EXPECT_TRUE(slurm_.job(1).row.held);
  EXPECT_FALSE(nodes().empty() || nodes().back().drained) << "it is not the node's fault";
}

TEST_F(SlurmDeskTest, FailuresHaveTheirExitCode) {
  run(order(1, 1));
  slurm_.job(1).exits_with = 7;
  slurm_.job(1).runs_for = 0;
  pass(2);
  EXPECT_EQ(last(kFirst).outcome, RunOutcome::kFailed);
  EXPECT_EQ(last(kFirst).exit_code, 7);
  desk_->acknowledge(kFirst);
  slurm_.job(1).exits_with = 75;
  slurm_.job(1).runs_for = 1;
  slurm_.job(1).done = 0;
  run(order(1, 2));
  EXPECT_EQ(last(kSecond).outcome, RunOutcome::kStopped) << "75 asks to be started again";
  EXPECT_EQ(slurm_.job(1).row.state, SlurmState::kPending);
}

TEST_F(SlurmDeskTest, ANumberOfNodesIsKept) {
  RunOrder wide = order(1, 1, {0b1, 0b1});
  wide.max_nodes = 1;
  run(wide);
  EXPECT_EQ(last(kFirst).event, RunEvent::kStartFailed);
  EXPECT_THAT(last(kFirst).detail, HasSubstr("at most 1 nodes"));
}

TEST_F(SlurmDeskTest, WhatWeCancelLeavesTheQueue) {
  run(order(1, 1));
  desk_->stop(kFirst, Grace{0}, slurm_.now());
  desk_->over(JobId{1}, "", true);
  pass(2);
  EXPECT_EQ(slurm_.job(1).row.state, SlurmState::kCancelled);
  EXPECT_EQ(last(kFirst).event, RunEvent::kExited);
  EXPECT_THAT(people(), IsEmpty());
  // One that waits between launches, too.
  run(order(2, 1));
  desk_->stop({JobId{2}, 1}, Grace{0}, slurm_.now());
  pass(2);
  desk_->acknowledge({JobId{2}, 1});
  pass(2);
  desk_->over(JobId{2}, "", true);
  pass(2);
  EXPECT_EQ(slurm_.job(2).row.state, SlurmState::kCancelled);
}

TEST_F(SlurmDeskTest, SilenceChangesNothing) {
  run(order(1, 1));
  heard_.clear();
  slurm_.silent = 5;
  desk_->census(3);
  pass(30);
  EXPECT_THAT(events(kFirst), ElementsAre(RunEvent::kSeenRunning));
  EXPECT_THAT(said_, ElementsAre(HasSubstr("did not answer"), "Slurm answers again"));
}

}  // namespace
}  // namespace muster
