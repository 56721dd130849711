// What a crash of the daemon or of Slurm's controller leaves behind, and what Slurm has forgotten.
#include <algorithm>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "backend/slurm/slurm_desk_fixture.h"

namespace muster {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(SlurmDeskTest, AStartOfAnEarlierDaemonIsGivenUpThereToo) {
  slurm_.user_submits(4, false);
  pass(1);
  desk_->prepare(order(1, 1));
  pass(0.5);
  desk_->go(kFirst, slurm_.now());
  pass(1);
  begin();
  desk_->census(1);
  pass(1);
  EXPECT_EQ(last(kFirst).event, RunEvent::kSeenReady);
  slurm_.drain("n1", true);
  pass(3);
  EXPECT_EQ(last(kFirst).event, RunEvent::kStartFailed);
}

TEST_F(SlurmDeskTest, ANewDaemonFindsEverything) {
  run(order(1, 1));               // goes on
  run(order(2, 1, {0, 0b1}));     // ends while nobody looks
  run(order(3, 1, {0, 0, 0b1}));  // was told to stop, and had not answered
  desk_->prepare(order(4, 1, {0, 0, 0, 0b1}));
  pass(0.5);  // in place
  slurm_.job(3).heeds_signals = false;
  desk_->stop({JobId{3}, 1}, Grace{60}, slurm_.now());
  pass(0.5);
  heard_.clear();
  slurm_.job(2).runs_for = 0;
  slurm_.pass(2);
  begin();
  EXPECT_THAT(people(), IsEmpty()) << "what runs was not released by hand";
  desk_->census(7);
  pass(1);
  EXPECT_THAT(events({JobId{1}, 1}), ElementsAre(RunEvent::kSeenRunning));
  EXPECT_THAT(events({JobId{2}, 1}), Each(RunEvent::kExited));
  EXPECT_EQ(last({JobId{2}, 1}).outcome, RunOutcome::kFinished);
  EXPECT_THAT(events({JobId{3}, 1}), ElementsAre(RunEvent::kSeenRunning));
  EXPECT_THAT(events({JobId{4}, 1}), ElementsAre(RunEvent::kSeenReady));
  const auto census = std::find_if(heard_.begin(), heard_.end(), [](const Report& report) {
    return std::holds_alternative<CensusReport>(report);
  });
  ASSERT_NE(census, heard_.end());
  EXPECT_EQ(std::get<CensusReport>(*census).number, 7U);
  desk_->go({JobId{4}, 1}, slurm_.now());
  pass(2);
  EXPECT_EQ(last({JobId{4}, 1}).event, RunEvent::kStarted);
}

TEST_F(SlurmDeskTest, OneThatLeftBecauseItWasToldToHasNotFinished) {
  run(order(1, 1));
  desk_->stop(kFirst, Grace{30}, slurm_.now());
  look();  // the signal is sent, the job saves its work and exits with 0, and the daemon dies
  ASSERT_EQ(slurm_.job(1).row.state, SlurmState::kCompleted);
  heard_.clear();
  begin();
  desk_->census(1);
  pass(1);
  EXPECT_EQ(last(kFirst).event, RunEvent::kExited);
  EXPECT_EQ(last(kFirst).outcome, RunOutcome::kStopped);
  EXPECT_EQ(slurm_.job(1).row.state, SlurmState::kPending);
}

TEST_F(SlurmDeskTest, OneThatWasToBeToldIsToldByTheNextDaemonOnce) {
  run(order(1, 1));
  slurm_.job(1).heeds_signals = false;
  desk_->stop(kFirst, Grace{30}, slurm_.now());  // and the daemon dies before it tells the job
  for (int life = 0; life < 2; ++life) {
    begin();
    desk_->stop(kFirst, Grace{30}, slurm_.now());
    pass(2);
    EXPECT_THAT(slurm_.job(1).signals, ElementsAre("TERM"));
  }
}

TEST_F(SlurmDeskTest, AJobThatWasRequeuedMeanwhileHasEnded) {
  run(order(1, 1));
  slurm_.admin_requeues(1);
  heard_.clear();
  begin();
  desk_->census(1);
  pass(1);
  EXPECT_EQ(last(kFirst).event, RunEvent::kExited);
  EXPECT_TRUE(slurm_.job(1).row.held);
}

TEST_F(SlurmDeskTest, WhatIsLeftOfJobsThatAreOverIsAskedFor) {
  run(order(1, 1));
  desk_->stop(kFirst, Grace{0}, slurm_.now());
  pass(2);
  heard_.clear();
  begin();
  desk_->census(1);
  pass(1);
  desk_->acknowledge(kFirst);
  pass(3);
  ASSERT_FALSE(people().empty());
  EXPECT_EQ(people().back().kind, JobReport::Kind::kSeen);
  EXPECT_EQ(people().back().job, JobId{1});
  desk_->over(JobId{1}, "", true);
  pass(2);
  EXPECT_EQ(slurm_.job(1).row.state, SlurmState::kCancelled);
}

TEST_F(SlurmDeskTest, AReleaseThatACrashForgotIsSaidAgain) {
  slurm_.refuses[1] = "Resources";
  run(order(1, 1));
  pass(5);
  slurm_.controller_crashes();
  slurm_.job(1).row.held = true;  // as it had been written down
  slurm_.job(1).row.reason = "JobHeldUser";
  slurm_.refuses.clear();
  pass(5);
  EXPECT_THAT(events(kFirst), ElementsAre(RunEvent::kReady, RunEvent::kStarted));
}

TEST_F(SlurmDeskTest, AControllerThatForgetsLosesNothingOfOurs) {
  desk_->prepare(order(1, 1));
  pass(0.5);
  slurm_.controller_crashes();  // the submission is gone, and so is its number
  const std::uint32_t other = slurm_.user_submits(1, false);
  EXPECT_EQ(other, 1U);
  desk_->go(kFirst, slurm_.now());
  pass(4);
  EXPECT_EQ(last(kFirst).event, RunEvent::kStartFailed);
  desk_->acknowledge(kFirst);
  run(order(1, 2, {0, 0b1}));
  EXPECT_EQ(last(kSecond).event, RunEvent::kStarted);
}

TEST_F(SlurmDeskTest, WhatSlurmForgotHasEndedAsItsScriptNoted) {
  for (std::uint32_t job = 1; job <= 3; ++job) run(order(job, 1, {0b1}));
  std::ofstream(folder_.path() / "1.exit") << "1 0\n";
  std::ofstream(folder_.path() / "2.exit") << "1 7\n";
  slurm_.controller_forgets_all();
  pass(5);
  EXPECT_EQ(last({JobId{1}, 1}).outcome, RunOutcome::kFinished);
  EXPECT_EQ(last({JobId{2}, 1}).outcome, RunOutcome::kFailed);
  EXPECT_EQ(last({JobId{2}, 1}).exit_code, 7);
  EXPECT_EQ(last({JobId{3}, 1}).outcome, RunOutcome::kStopped);
}

TEST_F(SlurmDeskTest, AnEndWithoutItsRecordIsThatOfAnother) {
  for (std::uint32_t job = 1; job <= 2; ++job) {
    run(order(job, 1, {0b1}));
    std::ofstream(folder_.path() / fmt::format("{}.1", job) / "began") << "";
    slurm_.job(job).row.state_name = "COMPLETED";
    slurm_.job(job).runs_for = 0;
  }
  std::ofstream(folder_.path() / "2.exit") << "1 0\n";
  pass(3);
  EXPECT_EQ(last({JobId{1}, 1}).outcome, RunOutcome::kStopped);
  EXPECT_EQ(last({JobId{2}, 1}).outcome, RunOutcome::kFinished);
}

}  // namespace
}  // namespace muster
