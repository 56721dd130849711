// A launch goes on with fewer nodes in its job of Slurm.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "backend/slurm/slurm_desk_fixture.h"
#include "backend/slurm/slurm_record.h"

namespace muster {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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

}  // namespace
}  // namespace muster
