// How jobs ended that Slurm's controller has forgotten, as its accounts know.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "backend/slurm/accounts.h"
#include "backend/slurm/slurm_desk_fixture.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

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

}  // namespace
}  // namespace muster
