// The executor's side of Slurm, without processes: every step of a launch, what people do behind
// its back, and what a crash of either side leaves behind.
#include "backend/slurm/slurm_desk.h"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/slurm/accounts.h"
#include "backend/slurm/slurm_record.h"
#include "support/slurm_in_memory.h"
#include "support/temporary_folder.h"

namespace muster {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SlurmDeskTest : public ::testing::Test {
 protected:
  SlurmDeskTest() { begin(); }

  // A new daemon: nothing is left of what the old one knew.
  void begin() {
    SlurmSettings settings;
    settings.instance = "lab";
    settings.partitions = {"gpu"};
    settings.runs = folder_.path();
    settings.ended = folder_.path() / "ended";
    settings.user_id = 0;
    settings.say = [this](const std::string& line) { said_.push_back(line); };
    settings.nonce = [this] { return fmt::format("x{}", ++nonces_); };
    std::vector<std::string> notes;
    auto cluster = SlurmCluster::find(slurm_.nodes()->rows, {"gpu"}, notes);
    desk_ = std::make_unique<SlurmDesk>(std::move(settings), std::move(*cluster), slurm_,
                                        [this](const Report& report) { heard_.push_back(report); });
    look();
  }
  void look() { desk_->look(slurm_.now()); }
  // Time goes on, and the desk looks when it wants to.
  void pass(double seconds) {
    for (double left = seconds; left > 1e-9; left -= 0.05) {
      slurm_.pass(0.05);
      if (slurm_.now() >= desk_->due()) look();
    }
  }
  RunOrder order(std::uint32_t job, std::uint32_t launch, std::vector<std::uint64_t> masks = {1}) {
    RunOrder order;
    order.run = {JobId{job}, launch};
    order.command = {"train"};
    order.process_per_gpu = false;
    for (std::size_t i = 0; i < masks.size(); ++i) {
      if (masks[i] != 0) order.gpus.add(NodeId{static_cast<std::uint32_t>(i)}, masks[i]);
    }
    return order;
  }
  // From order to running.
  void run(const RunOrder& order) {
    desk_->prepare(order);
    pass(0.5);
    desk_->go(order.run, slurm_.now());
    pass(3);
  }
  std::vector<RunEvent> events(RunId run) const {
    std::vector<RunEvent> events;
    for (const Report& report : heard_) {
      const auto* one = std::get_if<RunReport>(&report);
      if (one != nullptr && one->run == run) events.push_back(one->event);
    }
    return events;
  }
  RunReport last(RunId run) const {
    RunReport last;
    for (const Report& report : heard_) {
      const auto* one = std::get_if<RunReport>(&report);
      if (one != nullptr && one->run == run) last = *one;
    }
    return last;
  }
  std::vector<JobReport> people() const {
    std::vector<JobReport> all;
    for (const Report& report : heard_) {
      if (const auto* one = std::get_if<JobReport>(&report)) all.push_back(*one);
    }
    return all;
  }
  std::vector<NodeReport> nodes() const {
    std::vector<NodeReport> all;
    for (const Report& report : heard_) {
      if (const auto* one = std::get_if<NodeReport>(&report)) all.push_back(*one);
    }
    return all;
  }

  TemporaryFolder folder_;
  SlurmInMemory slurm_{4, 4};
  std::vector<Report> heard_;
  std::vector<std::string> said_;
  std::unique_ptr<SlurmDesk> desk_;
  int nonces_ = 0;
};

constexpr RunId kFirst{JobId{1}, 1};
constexpr RunId kSecond{JobId{1}, 2};

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

TEST_F(SlurmDeskTest, JobsOfUsersAreTakenInAndScheduled) {
  const std::uint32_t id = slurm_.user_submits(2);
  const std::uint32_t native = slurm_.user_submits(1, false);
  const std::uint32_t small = slurm_.user_submits(0);
  slurm_.job(id).row.comment = "muster/lab/-/5/1/0/1";  // nobody believes that
  pass(3);
  const auto found = people();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, JobReport::Kind::kFound);
  EXPECT_EQ(found[0].owner, "ann");
  EXPECT_EQ(found[0].origin, "slurm:1@x1");
  EXPECT_THAT(found[0].description, HasSubstr("\"gpus\":2"));
  EXPECT_EQ(slurm_.job(id).row.admin_comment, "muster/lab/x1/0/0/0/0");
  EXPECT_EQ(slurm_.job(native).row.admin_comment, "");
  EXPECT_EQ(slurm_.job(small).row.admin_comment, "");
  EXPECT_THAT(said_, ElementsAre(HasSubstr("asks for no GPU")));
  RunOrder one = order(9, 1, {0, 0b11});
  one.origin = "slurm:1@x1";
  run(one);
  EXPECT_EQ(slurm_.job(id).row.nodes, "n2");
  EXPECT_EQ(slurm_.job(id).row.admin_comment, "muster/lab/x1/9/1/0/1");
  desk_->stop(one.run, Grace{30}, slurm_.now());
  pass(1);
  EXPECT_THAT(slurm_.job(id).signals, ElementsAre("USR1"));
}

TEST_F(SlurmDeskTest, WhatIsNotDueIsNotTakenIn) {
  const std::uint32_t first = slurm_.user_submits(1, false);
  slurm_.job(first).runs_for = 20;
  const std::uint32_t second = slurm_.user_submits(1);
  slurm_.job(second).row.dependency = fmt::format("afterok:{}(unfulfilled)", first);
  const std::uint32_t later = slurm_.user_submits(1);
  slurm_.job(later).row.eligible = slurm_.now() + 30;
  pass(10);
  EXPECT_THAT(people(), IsEmpty());
  EXPECT_EQ(slurm_.job(second).row.admin_comment, "");
  pass(15);
  ASSERT_EQ(people().size(), 1U);
  EXPECT_THAT(people()[0].origin, HasSubstr(fmt::format("slurm:{}@", second)));
  pass(10);
  ASSERT_EQ(people().size(), 2U);
  EXPECT_THAT(people()[1].origin, HasSubstr(fmt::format("slurm:{}@", later)));
}

TEST_F(SlurmDeskTest, WishesThatCannotBeKeptAreSaidAndNothingIsTouched) {
  slurm_.job(slurm_.user_submits(1)).row.required = "n2";
  slurm_.job(slurm_.user_submits(1)).row.requeue = false;
  pass(5);
  ASSERT_EQ(people().size(), 2U);
  EXPECT_THAT(people()[0].description, HasSubstr("-w n2"));
  EXPECT_THAT(people()[1].description, HasSubstr("--no-requeue"));
  EXPECT_THAT(said_, ElementsAre(HasSubstr("is left alone"), HasSubstr("is left alone")));
  for (const std::uint32_t id : {1U, 2U}) {
    EXPECT_EQ(slurm_.job(id).row.admin_comment, "");
    EXPECT_TRUE(slurm_.job(id).row.held);
  }
  EXPECT_EQ(slurm_.job(1).row.required, "n2");
}

TEST_F(SlurmDeskTest, AStartThatSlurmRefusesIsGivenUpWithItsReason) {
  slurm_.refuses[1] = "BadConstraints";
  run(order(1, 1));
  EXPECT_EQ(last(kFirst).event, RunEvent::kStartFailed);
  EXPECT_EQ(last(kFirst).detail, "Slurm does not start it on n1: BadConstraints");
  EXPECT_TRUE(slurm_.job(1).row.held);
  EXPECT_FALSE(nodes().empty() || nodes().back().drained) << "it is not the node's fault";
}

TEST_F(SlurmDeskTest, ANodeWithoutRoomIsLeftForAWhile) {
  slurm_.refuses[1] = "Resources";
  run(order(1, 1));
  EXPECT_THAT(events(kFirst), ElementsAre(RunEvent::kReady)) << "it may have room in a moment";
  pass(10);
  EXPECT_EQ(last(kFirst).event, RunEvent::kStartFailed);
  EXPECT_EQ(last(kFirst).detail, "Slurm does not start it on n1: Resources");
  EXPECT_TRUE(slurm_.job(1).row.held);
  pass(3);
  EXPECT_TRUE(nodes().back().drained);
  EXPECT_EQ(nodes().back().node, NodeId{0});
  pass(35);
  EXPECT_FALSE(nodes().back().drained);
}

TEST_F(SlurmDeskTest, ANodeWhoseCpusAreAllInUseHasNoFreeGpus) {
  slurm_.use_cpus("n2", 16, 16);
  pass(3);
  EXPECT_EQ(nodes().back().node, NodeId{1});
  EXPECT_EQ(nodes().back().taken, 4);
  slurm_.use_cpus("n2", 15, 16);
  pass(3);
  EXPECT_EQ(nodes().back().taken, 0);
}

TEST_F(SlurmDeskTest, AHoldOfItsUserAfterTheReleaseIsNotFought) {
  slurm_.refuses[1] = "Resources";
  run(order(1, 1));
  ASSERT_FALSE(slurm_.job(1).row.held);
  static_cast<void>(slurm_.hold(1));
  pass(2);
  EXPECT_EQ(people().back().kind, JobReport::Kind::kHeld);
  EXPECT_EQ(last(kFirst).event, RunEvent::kStartFailed);
  desk_->acknowledge(kFirst);
  pass(5);
  EXPECT_TRUE(slurm_.job(1).row.held);
  slurm_.admin_releases(1);
  pass(3);
  EXPECT_EQ(people().back().kind, JobReport::Kind::kReleased);
  EXPECT_TRUE(slurm_.job(1).row.held) << "it waits for us again";
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

TEST_F(SlurmDeskTest, ANumberOfNodesIsKept) {
  RunOrder wide = order(1, 1, {0b1, 0b1});
  wide.max_nodes = 1;
  run(wide);
  EXPECT_EQ(last(kFirst).event, RunEvent::kStartFailed);
  EXPECT_THAT(last(kFirst).detail, HasSubstr("at most 1 nodes"));
}

TEST_F(SlurmDeskTest, AForeignNumberIsNotTakenForOurs) {
  const std::uint32_t id = slurm_.user_submits(2);
  pass(3);
  slurm_.job(id).row.admin_comment.clear();  // Slurm lost ours and gave its number to another
  slurm_.job(id).row.held = false;
  RunOrder one = order(9, 1);
  one.origin = "slurm:1@x1";
  desk_->prepare(one);
  pass(1);
  EXPECT_EQ(last(one.run).event, RunEvent::kStartFailed);
  EXPECT_EQ(people().back().kind, JobReport::Kind::kCancelled);
}

TEST_F(SlurmDeskTest, PeopleAreNotFought) {
  const std::uint32_t id = slurm_.user_submits(1);
  pass(3);
  slurm_.admin_holds(id);
  pass(3);
  EXPECT_EQ(people().back().kind, JobReport::Kind::kHeld);
  slurm_.job(id).eligible = 1e9;  // there are no free nodes for a while
  slurm_.admin_releases(id);
  slurm_.pass(0.05);
  look();
  EXPECT_EQ(people().back().kind, JobReport::Kind::kReleased);
  EXPECT_TRUE(slurm_.job(id).row.held) << "it waits for us again";
  // Without a hold of theirs before it, a release means that Slurm is to run it.
  slurm_.job(id).eligible = 0;
  slurm_.admin_releases(id);
  pass(3);
  EXPECT_EQ(people().back().kind, JobReport::Kind::kCancelled);
  EXPECT_THAT(people().back().why, HasSubstr("released by hand"));
  EXPECT_EQ(slurm_.job(id).row.state, SlurmState::kRunning);
  const std::size_t so_far = people().size();
  desk_->over(JobId{1}, "slurm:1@x1", true);
  pass(5);
  EXPECT_EQ(slurm_.job(id).row.state, SlurmState::kRunning) << "and it goes on";
  EXPECT_EQ(people().size(), so_far) << "which is said once";
}

TEST_F(SlurmDeskTest, WhatPeopleCancelIsCancelled) {
  const std::uint32_t waiting = slurm_.user_submits(1);
  pass(3);
  slurm_.admin_cancels(waiting);
  pass(3);
  EXPECT_EQ(people().back().kind, JobReport::Kind::kCancelled);
  run(order(1, 1));
  slurm_.admin_cancels(2);
  pass(2);
  EXPECT_EQ(people().back().kind, JobReport::Kind::kCancelled);
  EXPECT_EQ(people().back().job, JobId{1});
  EXPECT_EQ(last(kFirst).event, RunEvent::kExited);
  EXPECT_EQ(last(kFirst).outcome, RunOutcome::kStopped);
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

TEST_F(SlurmDeskTest, ARequeueByOthersEndsTheLaunch) {
  run(order(1, 1));
  slurm_.admin_requeues(1);
  pass(2);
  EXPECT_EQ(last(kFirst).event, RunEvent::kExited);
  EXPECT_EQ(last(kFirst).outcome, RunOutcome::kStopped);
  EXPECT_TRUE(slurm_.job(1).row.held) << "Slurm does not start it by itself";
}

TEST_F(SlurmDeskTest, NodesAreReportedBeforeTheirLaunchesEnd) {
  run(order(1, 1));
  heard_.clear();
  slurm_.node_fails("n1");
  pass(2);
  ASSERT_GE(heard_.size(), 2U);
  ASSERT_TRUE(std::holds_alternative<NodeReport>(heard_[0]));
  EXPECT_FALSE(std::get<NodeReport>(heard_[0]).up);
  EXPECT_EQ(last(kFirst).event, RunEvent::kExited);
  slurm_.node_returns("n1");
  slurm_.drain("n2", true);
  pass(3);
  EXPECT_TRUE(nodes()[nodes().size() - 2].up);
  EXPECT_TRUE(nodes().back().drained);
}

TEST_F(SlurmDeskTest, GpusOfOthersAreTaken) {
  slurm_.user_submits(3, false);
  pass(3);
  EXPECT_EQ(nodes().back().taken, 3);
  run(order(1, 1, {0, 0b1}));
  EXPECT_EQ(nodes().back().taken, 3) << "ours are not";
  slurm_.job(1).runs_for = 0;
  pass(3);
  EXPECT_EQ(nodes().back().taken, 0);
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

// A user's job ends, and is forgotten, while no daemon is there.
class SlurmAccountsTest : public SlurmDeskTest {
 protected:
  // What the next launch hears.
  RunReport forgotten_after(int exits_with, bool told_to_stop = false) {
    const std::uint32_t id = slurm_.user_submits(2);
    pass(3);
    RunOrder one = order(9, 1);
    one.origin = fmt::format("slurm:{}@x{}", id, nonces_);
    run(one);
    slurm_.job(id).exits_with = exits_with;
    slurm_.job(id).runs_for = 0;
    if (told_to_stop) desk_->stop(one.run, Grace{30}, slurm_.now());
    slurm_.pass(1);
    slurm_.controller_forgets_ended();
    begin();
    one.run.launch = 2;
    desk_->prepare(one);
    pass(1);
    return last(one.run);
  }
};

TEST_F(SlurmAccountsTest, KnowHowAForgottenJobFinished) {
  const RunReport end = forgotten_after(0);
  EXPECT_EQ(end.event, RunEvent::kExited);
  EXPECT_EQ(end.outcome, RunOutcome::kFinished);
}

TEST_F(SlurmAccountsTest, KnowHowAForgottenJobFailed) {
  const RunReport end = forgotten_after(7);
  EXPECT_EQ(end.outcome, RunOutcome::kFailed);
  EXPECT_EQ(end.exit_code, 7);
}

TEST_F(SlurmAccountsTest, DoNotCallFinishedWhatLeftWhenItWasTold) {
  EXPECT_EQ(forgotten_after(0, true).event, RunEvent::kStartFailed);
  EXPECT_EQ(people().back().kind, JobReport::Kind::kCancelled);
}

TEST_F(SlurmAccountsTest, AreAskedAgainWhereTheyDoNotAnswer) {
  slurm_.accounts_silent = 3;
  EXPECT_EQ(forgotten_after(0).event, RunEvent::kReady) << "nothing was said of it";
  pass(20);
  EXPECT_EQ(last({JobId{9}, 2}).outcome, RunOutcome::kFinished);
  EXPECT_THAT(said_, ElementsAre(HasSubstr("sacct did not answer")));
}

TEST_F(SlurmAccountsTest, OfAnotherJobWithTheSameNumberAreNotBelieved) {
  run(order(1, 1));
  slurm_.job(1).row.comment = "muster/other/-/1/1/0/1";
  slurm_.job(1).runs_for = 0;
  slurm_.pass(1);
  slurm_.controller_forgets_ended();
  pass(3);
  EXPECT_EQ(last(kFirst).outcome, RunOutcome::kStopped);
}

TEST(SlurmAccounts, AreReadFromSacct) {
  const auto rows = parse_accounts(
      "7\x1f"
      "1000\x1f"
      "CANCELLED by 0\x1f"
      "0:15\x1f"
      "two\nlines\x1f"
      "\x1f"
      "\n"
      "7\x1f"
      "1000\x1f"
      "FAILED\x1f"
      "3:0\x1f"
      "a|b\x1f"
      "muster/lab/x1/9/1/0/1\n"
      "8\x1f"
      "\x1f"
      "COMPLETED\x1f"
      "0:0\x1f"
      "\x1f"
      "\n"
      "garbage\n");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].state, SlurmState::kFailed);
  EXPECT_EQ(rows[0].exit_code, 3);
  EXPECT_EQ(rows[0].user_id, 1000U);
  EXPECT_EQ(rows[0].admin_comment, "muster/lab/x1/9/1/0/1");
  EXPECT_EQ(rows[1].user_id, 0xffffffff);
  const auto cancelled = parse_accounts(
      "7\x1f"
      "0\x1f"
      "CANCELLED by 0\x1f"
      "0:9\x1f"
      "\x1f");
  ASSERT_EQ(cancelled.size(), 1U);
  EXPECT_EQ(cancelled[0].state, SlurmState::kCancelled);
  EXPECT_EQ(cancelled[0].exit_code, 128 + 9);
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

TEST_F(SlurmDeskTest, GpusThatSlurmLeftCountedAreTaken) {
  slurm_.count_wrongly("n1", 3);
  desk_->prepare(order(1, 1, {0b1111}));
  pass(0.5);
  desk_->go(kFirst, slurm_.now());
  pass(3);
  EXPECT_THAT(events(kFirst), ElementsAre(RunEvent::kReady)) << "it may be a moment's difference";
  pass(12);
  EXPECT_EQ(last(kFirst).event, RunEvent::kStartFailed);
  EXPECT_EQ(nodes().back().taken, 3);
  EXPECT_THAT(said_, ElementsAre(HasSubstr("3 GPUs of n1 as used, and no job has them")));
  slurm_.count_wrongly("n1", 0);
  pass(3);
  EXPECT_EQ(nodes().back().taken, 0);
}

TEST_F(SlurmDeskTest, ANodeThatStartsNothingIsLeftAloneForAWhile) {
  slurm_.count_wrongly("n1", 1);
  pass(10);
  desk_->prepare(order(1, 1));
  pass(0.5);
  const auto id = std::prev(slurm_.all().end())->first;
  slurm_.job(id).eligible = 1e9;  // it would fit, and is not started
  desk_->go(kFirst, slurm_.now());
  pass(8);
  EXPECT_EQ(last(kFirst).event, RunEvent::kReady);
  pass(6);
  EXPECT_EQ(last(kFirst).event, RunEvent::kStartFailed);
  EXPECT_TRUE(nodes().back().drained);
  EXPECT_THAT(nodes().back().detail, HasSubstr("starts nothing"));
  EXPECT_THAT(said_.back(), HasSubstr("counts wrongly"));
  slurm_.count_wrongly("n1", 0);
  pass(5);
  EXPECT_FALSE(nodes().back().drained);
}

// A launch on three nodes is to go on with fewer; its script is played by the test.
class SlurmShrinkTest : public SlurmDeskTest {
 protected:
  SlurmShrinkTest() {
    run(order(1, 1, {0b11, 0b11, 0b11}));
    slurm_.job(1).heeds_signals = false;  // its ranks do, its script stays
    note("1.1/began", "can stay\n");
  }
  void note(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.path() / name) << text;
  }
  bool noted(const std::string& name) const {
    return std::filesystem::exists(folder_.path() / name);
  }
  void shrink_to(const std::vector<std::uint64_t>& masks) {
    desk_->shrink(kFirst, Grace{30}, order(1, 2, masks), slurm_.now());
    pass(1);
  }
};

TEST_F(SlurmShrinkTest, KeepsItsJobOfSlurmAndGivesANodeBack) {
  shrink_to({0b11, 0, 0b11});
  EXPECT_THAT(slurm_.job(1).signals, ElementsAre("TERM"));
  EXPECT_EQ(slurm_.job(1).row.nodes, "n1,n2,n3") << "its ranks are still there";
  note("1.1/left", "0\n");
  pass(1);
  EXPECT_EQ(slurm_.job(1).row.nodes, "n1,n3");
  EXPECT_EQ(slurm_.job(1).row.comment, "muster/lab/-/1/2/0/2");
  EXPECT_EQ(last(kFirst).event, RunEvent::kExited);
  EXPECT_EQ(last(kFirst).outcome, RunOutcome::kStopped);
  desk_->acknowledge(kFirst);
  pass(3);
  for (const NodeReport& node : nodes()) EXPECT_EQ(node.taken, 0) << "it is ours all the time";
  desk_->prepare(order(1, 2, {0b11, 0, 0b11}));
  pass(0.5);
  EXPECT_EQ(last(kSecond).event, RunEvent::kReady);
  desk_->go(kSecond, slurm_.now());
  pass(1);
  EXPECT_EQ(last(kSecond).event, RunEvent::kReady) << "its ranks have not begun";
  EXPECT_EQ(slurm_next_launch(folder_.path(), JobId{1}), 2U);
  note("1.2/began", "can stay\n");
  pass(2);
  EXPECT_EQ(last(kSecond).event, RunEvent::kStarted);
  EXPECT_EQ(slurm_.job(1).row.restarts, 0U);
  // Slurm shrinks a job once; then it is by a requeue.
  desk_->shrink(kSecond, Grace{30}, order(1, 3, {0b11}), slurm_.now());
  note("1.2/left", "0\n");
  pass(3);
  EXPECT_THAT(said_, ElementsAre(HasSubstr("cannot be made smaller in place")));
  EXPECT_EQ(last(kSecond).event, RunEvent::kExited);
  EXPECT_EQ(slurm_.job(1).row.restarts, 1U);
  EXPECT_THAT(people(), IsEmpty());
  EXPECT_THAT(slurm_.violations, IsEmpty());
}

TEST_F(SlurmShrinkTest, NotWithoutTheNodeOfItsScriptNorWithOtherGpus) {
  for (const std::vector<std::uint64_t>& masks :
       {std::vector<std::uint64_t>{0, 0b11, 0b11}, {0b1, 0b11}, {0b11, 0, 0, 0b11}}) {
    shrink_to(masks);
    EXPECT_FALSE(noted("1.1/stay"));
    EXPECT_EQ(slurm_.job(1).row.nodes, "n1,n2,n3");
  }
  pass(30);
  EXPECT_EQ(last(kFirst).event, RunEvent::kExited);
  EXPECT_EQ(slurm_.job(1).row.restarts, 1U) << "it was queued again after its grace";
}

TEST_F(SlurmShrinkTest, OneWhoseNextLaunchIsTakenBackIsQueuedAgainAtOnce) {
  shrink_to({0b11});
  begin();
  desk_->census(1);
  pass(1);
  desk_->stop(kFirst, Grace{30}, slurm_.now());
  note("1.1/left", "0\n");
  pass(2);
  EXPECT_EQ(last(kFirst).event, RunEvent::kExited);
  EXPECT_EQ(slurm_.job(1).row.restarts, 1U);
}

TEST_F(SlurmShrinkTest, NotAnOldScript) {
  note("1.1/began", "");
  shrink_to({0b11});
  EXPECT_FALSE(noted("1.1/stay"));
}

TEST_F(SlurmShrinkTest, ANewDaemonGoesOn) {
  shrink_to({0b11});
  begin();  // the ranks have not left
  desk_->census(1);
  pass(1);
  EXPECT_EQ(last(kFirst).event, RunEvent::kSeenRunning);
  note("1.1/left", "0\n");
  shrink_to({0b11});
  EXPECT_EQ(slurm_.job(1).row.nodes, "n1");
  heard_.clear();
  begin();  // it is smaller, and nobody knows whether that was heard
  desk_->census(2);
  pass(1);
  EXPECT_THAT(events(kFirst), Each(RunEvent::kExited));
  EXPECT_THAT(events(kSecond), IsEmpty());
  EXPECT_THAT(people(), IsEmpty()) << "what runs was not released by hand";
  desk_->acknowledge(kFirst);
  desk_->prepare(order(1, 2, {0b11}));
  pass(0.5);
  EXPECT_EQ(last(kSecond).event, RunEvent::kReady);
  desk_->go(kSecond, slurm_.now());
  pass(0.5);
  heard_.clear();
  begin();  // it may begin, and has not
  desk_->census(3);
  pass(1);
  EXPECT_THAT(events(kSecond), ElementsAre(RunEvent::kSeenReady));
  note("1.2/began", "can stay\n");
  pass(1);
  EXPECT_EQ(last(kSecond).event, RunEvent::kStarted);
  EXPECT_EQ(slurm_.job(1).row.restarts, 0U);
}

TEST_F(SlurmShrinkTest, WhereNoLaunchFollowsItIsQueuedAgain) {
  shrink_to({0b11});
  note("1.1/left", "0\n");
  pass(1);
  desk_->acknowledge(kFirst);
  pass(10);
  EXPECT_EQ(slurm_.job(1).row.state, SlurmState::kRunning);
  pass(10);
  EXPECT_EQ(slurm_.job(1).row.state, SlurmState::kPending);
  EXPECT_TRUE(slurm_.job(1).row.held);
}

TEST_F(SlurmShrinkTest, AnotherPlaceThanWasPromisedIsAnotherStart) {
  shrink_to({0b11});
  note("1.1/left", "0\n");
  pass(1);
  desk_->acknowledge(kFirst);
  run(order(1, 3, {0, 0, 0b11}));
  EXPECT_EQ(last({JobId{1}, 3}).event, RunEvent::kStarted);
  EXPECT_EQ(slurm_.job(1).row.nodes, "n3");
  EXPECT_EQ(slurm_.job(1).row.restarts, 1U);
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

TEST_F(SlurmDeskTest, OnlyItsPartitionsAreTouched) {
  const std::uint32_t id = slurm_.user_submits(1);
  slurm_.job(id).row.partition = "other";
  const std::uint32_t both = slurm_.user_submits(1);
  slurm_.job(both).row.partition = "gpu,other";
  pass(5);
  EXPECT_THAT(people(), IsEmpty());
  EXPECT_EQ(slurm_.job(id).row.admin_comment, "");
  EXPECT_EQ(slurm_.job(both).row.admin_comment, "");
}

TEST_F(SlurmDeskTest, SharingNeedsShards) {
  RunOrder one = order(1, 1);
  one.sharing = Sharing::kShared;
  desk_->prepare(one);
  pass(1);
  EXPECT_EQ(last(kFirst).event, RunEvent::kStartFailed);
  EXPECT_THAT(last(kFirst).detail, HasSubstr("no shards"));
}

TEST_F(SlurmDeskTest, WhoIsAloneOnAGpuIsNotJoined) {
  slurm_.give_shards(4);
  begin();
  run(order(1, 1));
  RunOrder second = order(2, 1);
  second.sharing = Sharing::kShared;
  desk_->prepare(second);
  pass(1);
  EXPECT_THAT(last(second.run).detail, HasSubstr("was started alone"));
}

TEST_F(SlurmDeskTest, AJobThatIsToShareIsSubmittedAnew) {
  slurm_.give_shards(4);
  begin();
  run(order(1, 1));
  desk_->stop(kFirst, Grace{30}, slurm_.now());
  pass(2);
  desk_->acknowledge(kFirst);
  RunOrder shared = order(1, 2);
  shared.sharing = Sharing::kShared;
  run(shared);
  pass(3);
  EXPECT_EQ(last(kSecond).event, RunEvent::kStarted);
  pass(15);
  ASSERT_EQ(slurm_.all().size(), 2U);
  EXPECT_EQ(slurm_.job(1).row.state, SlurmState::kCancelled);
  EXPECT_EQ(slurm_.job(2).placed.per_node, "gres:shard:2");
  heard_.clear();
  begin();
  desk_->census(1);
  pass(3);
  EXPECT_EQ(last(kSecond).event, RunEvent::kSeenRunning);
  EXPECT_THAT(people(), IsEmpty()) << "nobody has cancelled it";
  EXPECT_THAT(slurm_.violations, IsEmpty());
}

}  // namespace
}  // namespace muster
