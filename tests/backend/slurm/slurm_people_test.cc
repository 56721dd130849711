// Jobs of users, and what people do to jobs behind the back of the executor.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "backend/slurm/slurm_desk_fixture.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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

TEST_F(SlurmDeskTest, ConstraintsThatCannotBeHonouredAreReportedAndNothingIsTouched) {
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

TEST_F(SlurmDeskTest, ARequeueByOthersEndsTheLaunch) {
  run(order(1, 1));
  slurm_.admin_requeues(1);
  pass(2);
  EXPECT_EQ(last(kFirst).event, RunEvent::kExited);
  EXPECT_EQ(last(kFirst).outcome, RunOutcome::kStopped);
  EXPECT_TRUE(slurm_.job(1).row.held) << "Slurm does not start it by itself";
}

}  // namespace
}  // namespace muster
