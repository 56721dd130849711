// What people ask for, in every state of a job.
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine/invariants.h"
#include "engine/job_states.h"

namespace muster {
namespace {

// Numbers that policies look at are taken over at once, and the job stays what it is.
TEST(People, ReviseNumbersInEveryState) {
  for (const State state : kStates) {
    SCOPED_TRACE(static_cast<int>(state));
    const auto driven = bring_to(state);
    const std::string before = look_at(*driven);
    const std::size_t orders = driven->backend.ordered.size();
    driven->revise(20, 0, Revision::kPriority, 7);
    driven->revise(20, 0, Revision::kEstimate, 300);
    driven->revise(20, 0, Revision::kDeadline, 500);
    const Job& job = *anywhere(*driven);
    EXPECT_EQ(job.spec.priority, 7);
    EXPECT_EQ(job.spec.estimate, 300);
    EXPECT_EQ(job.spec.deadline, 500);
    EXPECT_EQ(job.total_work, 100) << "its length is known: an estimate changes nothing of it";
    const auto told = driven->log.lines({Action::kRevise}).size();
    driven->revise(20, 0, Revision::kTotalWork, 50);
    EXPECT_EQ(anywhere(*driven)->total_work, 50);
    EXPECT_EQ(driven->log.lines({Action::kRevise}).size(), told) << "nobody has asked for that";
    EXPECT_EQ(look_at(*driven), before);
    EXPECT_EQ(driven->backend.ordered.size(), orders);
    EXPECT_EQ(broken_invariant(*driven->engine), std::nullopt);
  }
}

// Where its length is a belief, a new estimate is the new belief.
TEST(People, ReviseWhatIsBelievedOfALength) {
  DrivenEngine driven;
  JobSpec spec = stretchable_job(0, 100, 2);
  spec.believed = true;
  spec.truth.set({.duration = 400});
  driven.inbox.put(spec);
  driven.turn(0);
  driven.want(1, 0, 1);
  driven.say(5, EventKind::kStarted, 0, 1);
  driven.revise(20, 0, Revision::kEstimate, 300);
  EXPECT_EQ(driven.job(0)->total_work, 300);
  EXPECT_EQ(driven.job(0)->spec.duration, 300);
  EXPECT_EQ(driven.job(0)->work_at(20), 15) << "what it has done it has";
  driven.revise(21, 0, Revision::kEstimate, 0);
  EXPECT_EQ(driven.job(0)->total_work, 300) << "no estimate is no belief";
}

// One that has GPUs gives them back and is given others; launches that have not left are waited
// for.
TEST(People, ReviseSizesInEveryState) {
  const std::map<State, const char*> expected = {
      {State::kQueued, "queued 0/0"},     {State::kStarting, "starting 2/0"},
      {State::kRunning, "starting 2/0"},  {State::kMoving, "starting 3/0"},
      {State::kStopping, "stopping 1/0"}, {State::kReleased, "preempted 1/1"},
      {State::kAgain, "starting 3/0"},    {State::kTakenBack, "stopping 2/0"},
      {State::kOnHold, "on hold 1/0"},    {State::kHeld, "held 0/0"},
      {State::kHeldAgain, "held 1/0"}};
  for (const State state : kStates) {
    SCOPED_TRACE(static_cast<int>(state));
    const auto driven = bring_to(state);
    const bool had_gpus = !anywhere(*driven)->gpus.empty();
    driven->backend.ordered.clear();
    driven->revise(20, 0, Revision::kGpus, 2);
    EXPECT_EQ(anywhere(*driven)->spec.gpus, 2);
    EXPECT_EQ(look_at(*driven), expected.at(state));
    ASSERT_EQ(driven->backend.ordered.size(), had_gpus ? 2U : 0U);
    if (had_gpus) {
      EXPECT_EQ(driven->backend.ordered[0].kind, CommandKind::kStop);
      EXPECT_EQ(driven->backend.ordered[1].kind, CommandKind::kStart);
    }
    // More than there will ever be is not accepted, and changes nothing.
    driven->revise(21, 0, Revision::kGpus, 64);
    EXPECT_EQ(anywhere(*driven)->spec.gpus, 2);
    EXPECT_EQ(look_at(*driven), expected.at(state));
    EXPECT_EQ(broken_invariant(*driven->engine), std::nullopt);
  }
}

TEST(People, PutJobsOnHoldInEveryState) {
  const std::map<State, const char*> expected = {
      {State::kQueued, "on hold 0/0"},   {State::kStarting, "on hold 1/0"},
      {State::kRunning, "on hold 1/0"},  {State::kMoving, "on hold 2/0"},
      {State::kStopping, "on hold 1/0"}, {State::kReleased, "on hold 1/1"},
      {State::kAgain, "on hold 2/0"},    {State::kTakenBack, "on hold 2/0"},
      {State::kOnHold, "on hold 1/0"},   {State::kHeld, "on hold 0/0"},
      {State::kHeldAgain, "on hold 1/0"}};
  for (const State state : kStates) {
    SCOPED_TRACE(static_cast<int>(state));
    const auto driven = bring_to(state);
    driven->revise(20, 0, Revision::kHold, 1);
    EXPECT_EQ(look_at(*driven), expected.at(state));
    EXPECT_EQ(driven->engine->cluster().used_gpus(), 0);
    EXPECT_EQ(broken_invariant(*driven->engine), std::nullopt);
    // Asked for twice it is asked for once; put back it waits again, or for admission.
    driven->revise(21, 0, Revision::kHold, 1);
    EXPECT_EQ(look_at(*driven), expected.at(state));
    driven->wanted.clear();
    driven->revise(22, 0, Revision::kHold, 0);
    EXPECT_EQ(driven->job(0) != nullptr, state != State::kHeld && state != State::kHeldAgain);
    EXPECT_TRUE(driven->engine->state().on_hold.empty());
    EXPECT_EQ(broken_invariant(*driven->engine), std::nullopt);
  }
}

TEST(People, ReviseWhatAJobAsksFor) {
  DrivenEngine driven;
  driven.submit(0, 100, 1);
  driven.want(0, 0, 1);
  driven.say(1, EventKind::kStarted, 0, 1);
  driven.revise(5, 0, Revision::kPriority, 7);
  EXPECT_EQ(driven.job(0)->spec.priority, 7);
  EXPECT_TRUE(driven.job(0)->running());
  driven.revise(5, 0, Revision::kTotalWork, 50);
  EXPECT_EQ(driven.job(0)->total_work, 50);
  driven.wanted[0] = 2;
  driven.revise(6, 0, Revision::kGpus, 2);
  EXPECT_EQ(driven.job(0)->spec.gpus, 2);
  EXPECT_EQ(driven.job(0)->gpus.gpus(), 2);
  EXPECT_TRUE(driven.job(0)->starting());
  EXPECT_EQ(driven.job(0)->work, 5);
  // More than there will ever be is not accepted.
  driven.revise(7, 0, Revision::kGpus, 64);
  EXPECT_EQ(driven.job(0)->spec.gpus, 2);
  EXPECT_EQ(driven.log.decisions.back().reason, Reason::kNeverFits);
  EXPECT_EQ(broken_invariant(*driven.engine), std::nullopt);
}

TEST(People, PutJobsOnHold) {
  DrivenEngine driven;
  driven.submit(0, 100, 1);
  driven.want(0, 0, 1);
  driven.say(0, EventKind::kStarted, 0, 1);
  driven.revise(10, 0, Revision::kHold, 1);
  EXPECT_EQ(driven.job(0), nullptr);
  EXPECT_EQ(driven.engine->cluster().used_gpus(), 0);
  EXPECT_EQ(driven.log.turns.back().held, 1);
  driven.turn(50);
  driven.revise(60, 0, Revision::kHold, 0);
  ASSERT_NE(driven.job(0), nullptr);
  EXPECT_TRUE(driven.job(0)->starting());
  EXPECT_EQ(driven.job(0)->work, 10);
  driven.say(61, EventKind::kStarted, 0, 2);
  EXPECT_EQ(driven.job(0)->waited_before, 51);
  driven.say(151, EventKind::kFinished, 0, 2);
  EXPECT_EQ(driven.log.job(0).status, JobState::kFinished);
  EXPECT_EQ(driven.log.job(0).queue, 51);
}

// It waited from 0 to 5, and waits again since it was put on hold at 10.
TEST(People, CountTheWaitOfWhoRanAndIsHeldAgain) {
  const auto cancelled = bring_to(State::kHeldAgain);
  cancelled->say(30, EventKind::kCancelled, 0, 0);
  EXPECT_EQ(cancelled->log.job(0).queue, 5 + 20);
  EXPECT_EQ(cancelled->log.job(0).gpu_seconds, 5);
  const auto finished = bring_to(State::kHeldAgain);
  finished->say(12, EventKind::kFinished, 0, 1);
  EXPECT_EQ(finished->log.job(0).queue, 5 + 2);
  const auto admitted = bring_to(State::kHeldAgain);
  EXPECT_EQ(admitted->log.lines({Action::kHold}).size(), 1U);
  admitted->say(20, EventKind::kCancelled, 1, 0);
  ASSERT_NE(admitted->job(0), nullptr);
  admitted->turn(30);
  EXPECT_EQ(admitted->log.lines({Action::kHold}).size(), 1U);
  admitted->say(40, EventKind::kCancelled, 0, 0);
  EXPECT_LE(admitted->log.job(0).queue, 40);
}

TEST(People, PutJobsOnHoldThatAreDone) {
  DrivenEngine driven;
  driven.submit(0, 100, 1);
  driven.want(0, 0, 1);
  driven.say(0, EventKind::kStarted, 0, 1);
  driven.revise(99, 0, Revision::kHold, 1);
  driven.say(100, EventKind::kFinished, 0, 1);
  EXPECT_EQ(driven.log.job(0).status, JobState::kFinished);
  driven.revise(110, 0, Revision::kHold, 0);
  EXPECT_EQ(driven.job(0), nullptr);
  EXPECT_EQ(broken_invariant(*driven.engine), std::nullopt);
}

}  // namespace
}  // namespace muster
