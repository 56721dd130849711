// What every word about a launch does in every state of its job, cell by cell. What people ask for
// is in people_test.cc, what becomes of nodes in nodes_test.cc.
#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine/invariants.h"
#include "engine/job_states.h"

namespace muster {
namespace {

struct Cell {
  State state;
  EventKind event;
  std::uint32_t launch;
  const char* expected;
};

using E = EventKind;

// launch/ended: the present launch, and the last of which nothing is left. "later" waits before it
// is tried again; "lost" counts as a restart that was not its fault.
const Cell kCells[] = {
    // It has never been given GPUs: whatever is said is about nothing.
    {State::kQueued, E::kProgress, 1, "queued 0/0"},
    {State::kQueued, E::kStarted, 1, "queued 0/0"},
    {State::kQueued, E::kFinished, 1, "queued 0/0"},
    {State::kQueued, E::kFailed, 1, "queued 0/0"},
    {State::kQueued, E::kReturned, 1, "queued 0/0"},
    {State::kQueued, E::kReleased, 1, "queued 0/0"},

    {State::kStarting, E::kProgress, 1, "running 1/0"},
    {State::kStarting, E::kStarted, 1, "running 1/0"},
    {State::kStarting, E::kFinished, 1, "finished"},
    {State::kStarting, E::kFailed, 1, "starting 2/1 crashed"},
    {State::kStarting, E::kReturned, 1, "queued 1/1 later"},
    {State::kStarting, E::kReleased, 1, "queued 1/1 later"},
    {State::kStarting, E::kStarted, 2, "starting 1/0"},
    {State::kStarting, E::kReturned, 2, "starting 1/0"},

    {State::kRunning, E::kProgress, 1, "running 1/0"},
    {State::kRunning, E::kStarted, 1, "running 1/0"},
    {State::kRunning, E::kFinished, 1, "finished"},
    {State::kRunning, E::kFailed, 1, "starting 2/1 crashed"},
    {State::kRunning, E::kReturned, 1, "starting 2/1 lost"},
    {State::kRunning, E::kReleased, 1, "preempted 1/1 lost"},  // not loud: the turn comes after it
    {State::kRunning, E::kFinished, 2, "running 1/0"},
    {State::kRunning, E::kFailed, 2, "running 1/0"},

    // The new launch has not begun, the old one may still be there.
    {State::kMoving, E::kProgress, 2, "running 2/1"},
    {State::kMoving, E::kStarted, 2, "running 2/1"},
    {State::kMoving, E::kFinished, 2, "finished"},
    {State::kMoving, E::kFailed, 2, "starting 3/2 crashed"},
    {State::kMoving, E::kReturned, 2, "preempted 2/2 later"},
    {State::kMoving, E::kReleased, 2, "preempted 2/2 later"},
    {State::kMoving, E::kProgress, 1, "starting 2/0"},
    {State::kMoving, E::kStarted, 1, "starting 2/0"},
    {State::kMoving, E::kFinished, 1, "finished"},
    {State::kMoving, E::kFailed, 1, "starting 2/1"},
    {State::kMoving, E::kReturned, 1, "starting 2/1"},
    {State::kMoving, E::kReleased, 1, "starting 2/1"},

    {State::kStopping, E::kProgress, 1, "stopping 1/0"},
    {State::kStopping, E::kStarted, 1, "stopping 1/0"},
    {State::kStopping, E::kFinished, 1, "finished"},
    {State::kStopping, E::kFailed, 1, "preempted 1/1"},
    {State::kStopping, E::kReturned, 1, "preempted 1/1"},
    {State::kStopping, E::kReleased, 1, "preempted 1/1"},

    {State::kReleased, E::kProgress, 1, "preempted 1/1"},
    {State::kReleased, E::kStarted, 1, "preempted 1/1"},
    {State::kReleased, E::kFinished, 1, "preempted 1/1"},
    {State::kReleased, E::kFailed, 1, "preempted 1/1"},
    {State::kReleased, E::kReturned, 1, "preempted 1/1"},
    {State::kReleased, E::kReleased, 1, "preempted 1/1"},

    // Told to stop, and given GPUs again before it had left the old ones.
    {State::kAgain, E::kProgress, 2, "running 2/1"},
    {State::kAgain, E::kStarted, 2, "running 2/1"},
    {State::kAgain, E::kFinished, 2, "finished"},
    {State::kAgain, E::kFailed, 2, "starting 3/2 crashed"},
    {State::kAgain, E::kReturned, 2, "preempted 2/2 later"},
    {State::kAgain, E::kReleased, 2, "preempted 2/2 later"},
    {State::kAgain, E::kProgress, 1, "starting 2/0"},
    {State::kAgain, E::kStarted, 1, "starting 2/0"},
    {State::kAgain, E::kFinished, 1, "finished"},
    {State::kAgain, E::kFailed, 1, "starting 2/1"},
    {State::kAgain, E::kReturned, 1, "starting 2/1"},
    {State::kAgain, E::kReleased, 1, "starting 2/1"},

    // These taken back, too: launch 1 may still finish, and launch 2 is heard of only after that.
    {State::kTakenBack, E::kProgress, 1, "stopping 2/0"},
    {State::kTakenBack, E::kStarted, 1, "stopping 2/0"},
    {State::kTakenBack, E::kFinished, 1, "finished"},
    {State::kTakenBack, E::kFailed, 1, "stopping 2/1"},
    {State::kTakenBack, E::kReturned, 1, "stopping 2/1"},
    {State::kTakenBack, E::kReleased, 1, "stopping 2/1"},
    {State::kTakenBack, E::kProgress, 2, "stopping 2/0"},
    {State::kTakenBack, E::kStarted, 2, "stopping 2/0"},
    {State::kTakenBack, E::kFinished, 2, "finished"},
    {State::kTakenBack, E::kFailed, 2, "preempted 2/2"},
    {State::kTakenBack, E::kReturned, 2, "preempted 2/2"},
    {State::kTakenBack, E::kReleased, 2, "preempted 2/2"},

    // A person has taken it out of the queue; it may still be on its GPUs.
    {State::kOnHold, E::kProgress, 1, "on hold 1/0"},
    {State::kOnHold, E::kStarted, 1, "on hold 1/0"},
    {State::kOnHold, E::kFinished, 1, "finished"},
    {State::kOnHold, E::kFailed, 1, "on hold 1/1"},
    {State::kOnHold, E::kReturned, 1, "on hold 1/1"},
    {State::kOnHold, E::kReleased, 1, "on hold 1/1"},

    // It waits for admission and has never been given GPUs.
    {State::kHeld, E::kProgress, 1, "held 0/0"},
    {State::kHeld, E::kStarted, 1, "held 0/0"},
    {State::kHeld, E::kFinished, 1, "held 0/0"},
    {State::kHeld, E::kFailed, 1, "held 0/0"},
    {State::kHeld, E::kReturned, 1, "held 0/0"},
    {State::kHeld, E::kReleased, 1, "held 0/0"},

    // It waits for admission again and may still be on its GPUs.
    {State::kHeldAgain, E::kProgress, 1, "held 1/0"},
    {State::kHeldAgain, E::kStarted, 1, "held 1/0"},
    {State::kHeldAgain, E::kFinished, 1, "finished"},
    {State::kHeldAgain, E::kFailed, 1, "held 1/1"},
    {State::kHeldAgain, E::kReturned, 1, "held 1/1"},
    {State::kHeldAgain, E::kReleased, 1, "held 1/1"},
};

// Every word about a launch that is there, or was just told to leave, has a line for every state.
TEST(Events, AreAllInTheTable) {
  for (const State state : kStates) {
    for (std::uint8_t kind = 0; kind < kEventKinds; ++kind) {
      const EventKind event{kind};
      // Those two have tests of their own below.
      const bool apart = event == E::kCancelled || event == E::kMetric;
      if (apart || gone_through_in(event) != GoneThroughIn::kEventsTest) continue;
      const bool two =
          state == State::kMoving || state == State::kAgain || state == State::kTakenBack;
      for (std::uint32_t launch = 1; launch <= (two ? 2U : 1U); ++launch) {
        const auto lines =
            std::count_if(std::begin(kCells), std::end(kCells), [&](const Cell& cell) {
              return cell.state == state && cell.event == event && cell.launch == launch;
            });
        EXPECT_EQ(lines, 1) << "state " << static_cast<int>(state) << ", event "
                            << static_cast<int>(event) << " of launch " << launch;
      }
    }
  }
}

// Whichever launch said it, and wherever the job is: a number that comes late is still true.
TEST(Events, MetricsAreKeptAndToldInEveryState) {
  for (const State state : kStates) {
    for (const std::uint32_t launch : {1U, 2U}) {
      SCOPED_TRACE(fmt::format("state {}, launch {}", static_cast<int>(state), launch));
      const auto driven = bring_to(state);
      const std::string before = look_at(*driven);
      JobEvent event;
      event.time = 20;
      event.kind = EventKind::kMetric;
      event.job = JobId{0};
      event.launch = launch;
      event.metric = DrivenEngine::kMetric;
      event.value = 0.25;
      driven->say(event);
      EXPECT_EQ(look_at(*driven), before);
      ASSERT_EQ(driven->metrics.size(), 1U);
      EXPECT_EQ(driven->metrics[0].value, 0.25);
      const Job& job = *anywhere(*driven);
      EXPECT_EQ(driven->engine->state().metrics.of(job.self, DrivenEngine::kMetric), 0.25);
    }
  }
}

TEST(Events, HaveAnAnswerInEveryState) {
  for (const Cell& cell : kCells) {
    SCOPED_TRACE(fmt::format("state {}, event {} of launch {}", static_cast<int>(cell.state),
                             static_cast<int>(cell.event), cell.launch));
    const auto driven = bring_to(cell.state);
    driven->say(20, cell.event, 0, cell.launch);
    EXPECT_EQ(look_at(*driven), cell.expected);
    EXPECT_EQ(broken_invariant(*driven->engine), std::nullopt);
    // Said twice is said once.
    driven->say(20, cell.event, 0, cell.launch);
    EXPECT_EQ(look_at(*driven), cell.expected);
    // A word about a launch that is long gone changes nothing.
    const auto again = bring_to(State::kReleased);
    again->want(20, 0, 1);
    again->say(21, EventKind::kStarted, 0, 2);
    again->say(22, cell.event, 0, 1);
    EXPECT_EQ(look_at(*again), "running 2/1");
  }
}

TEST(Events, CancelledEndsAJobInEveryState) {
  for (const State state : kStates) {
    SCOPED_TRACE(static_cast<int>(state));
    const auto driven = bring_to(state);
    const std::size_t before = driven->backend.ordered.size();
    driven->say(20, EventKind::kCancelled, 0, 0);
    ASSERT_EQ(driven->log.jobs.size(), 1U);
    const JobRecord& record = driven->log.jobs[0];
    EXPECT_EQ(record.status, JobState::kCancelled);
    EXPECT_EQ(record.reason, Reason::kCancelled);
    EXPECT_EQ(record.end, 20);
    EXPECT_GE(record.queue, 0);
    EXPECT_LE(record.queue, 20);
    EXPECT_EQ(driven->engine->cluster().used_gpus(), 0);
    const bool ran = state == State::kStarting || state == State::kRunning ||
                     state == State::kMoving || state == State::kAgain;
    EXPECT_EQ(driven->backend.ordered.size(), before + (ran ? 1 : 0));
    if (ran) {
      EXPECT_EQ(driven->backend.ordered.back().kind, CommandKind::kStop);
    }
    // Whatever is said of it later is about nobody.
    for (const EventKind kind : {E::kStarted, E::kFinished, E::kFailed, E::kReleased})
      driven->say(21, kind, 0, 1);
    EXPECT_EQ(driven->log.jobs.size(), 1U);
  }
}

TEST(Events, StartedEndsTheWait) {
  DrivenEngine driven;
  driven.submit(0, 100);
  driven.want(2, 0, 1);
  EXPECT_TRUE(driven.job(0)->starting());
  EXPECT_EQ(driven.job(0)->attained_at(10), 0);
  EXPECT_EQ(driven.job(0)->work_at(10), 0);
  driven.say(12, EventKind::kStarted, 0, 1);
  EXPECT_EQ(driven.job(0)->first_start, 12);
  EXPECT_EQ(driven.job(0)->waited_before, 12);
  EXPECT_EQ(driven.job(0)->attained_at(22), 10);
  EXPECT_EQ(driven.job(0)->work_at(22), 10);
  driven.say(112, EventKind::kFinished, 0, 1);
  EXPECT_EQ(driven.log.job(0).start, 12);
  EXPECT_EQ(driven.log.job(0).queue, 12);
  EXPECT_EQ(driven.log.job(0).gpu_seconds, 100);
}

// Not its fault: no crash, and longer and longer pauses before it is tried again.
TEST(Events, AStartThatFailsIsTriedAgainLater) {
  DrivenEngine driven;
  driven.submit(0, 100);
  driven.want(0, 0, 1);
  Seconds now = 5;
  for (const Seconds pause : {10.0, 20.0, 40.0}) {
    const std::uint32_t launch = driven.job(0)->launch;
    driven.say(now, EventKind::kReturned, 0, launch);
    EXPECT_EQ(driven.job(0)->state, JobState::kQueued);
    EXPECT_EQ(driven.engine->due().at, now + pause);
    driven.turn(now + pause / 2);
    EXPECT_FALSE(driven.job(0)->running());
    now += pause;
    driven.turn(now);
    EXPECT_TRUE(driven.job(0)->starting());
    EXPECT_EQ(driven.job(0)->launch, launch + 1);
  }
  EXPECT_EQ(driven.job(0)->crashes, 0);
  EXPECT_EQ(driven.job(0)->restarts, 0);
  driven.say(now + 1, EventKind::kStarted, 0, driven.job(0)->launch);
  EXPECT_EQ(driven.job(0)->failed_starts, 0U);
  EXPECT_EQ(driven.job(0)->waited_before, now + 1);
}

TEST(Events, TheWorkThatAStopSavedIsWhatCounts) {
  const auto driven = bring_to(State::kStopping);
  EXPECT_EQ(driven->job(0)->work, 5);
  driven->say(30, EventKind::kReleased, 0, 1, 4);
  EXPECT_EQ(driven->job(0)->work, 4);
  EXPECT_EQ(driven->job(0)->lost_work, 1);
  EXPECT_EQ(driven->job(0)->overhead, 20);
}

// A backend for which all work that is done is safe has no need of `saved`.
TEST(Events, WorkAloneIsSafe) {
  const auto say = [](DrivenEngine& driven, EventKind kind, double work) {
    JobEvent event;
    event.time = 30;
    event.kind = kind;
    event.job = JobId{0};
    event.launch = 1;
    event.work = work;
    driven.say(event);
    EXPECT_EQ(driven.job(0)->work_at(30), work);
    EXPECT_EQ(driven.job(0)->saved_work, work);
  };
  for (const double work : {0.0, 4.0, 7.0}) {
    const auto stopping = bring_to(State::kStopping);
    say(*stopping, EventKind::kReleased, work);
    EXPECT_EQ(stopping->job(0)->lost_work, std::max(0.0, 5 - work));
    const auto lost = bring_to(State::kRunning);
    say(*lost, EventKind::kReturned, work);
    const auto starting = bring_to(State::kStarting);
    say(*starting, EventKind::kStarted, work);
  }
}

TEST(Due, FollowsNews) {
  DrivenEngine driven;
  EXPECT_EQ(driven.engine->due().at, kNever);
  EXPECT_TRUE(driven.engine->due().or_event);
  driven.inbox.put(stretchable_job(3, 10, 1));
  EXPECT_EQ(driven.engine->due().at, 3);
  driven.turn(3);
  EXPECT_EQ(driven.engine->due().at, kNever);
  // A new job is seen by the next apply.
  driven.inbox.put(stretchable_job(7, 10, 1));
  driven.engine->apply(8, {});
  EXPECT_LE(driven.engine->due().at, 8);
  driven.turn(8);
  EXPECT_EQ(driven.engine->arrived(), 2);
  // What is not loud is not worth a turn.
  driven.want(9, 0, 1);
  driven.say(12, EventKind::kStarted, 0, 1);
  EXPECT_EQ(driven.engine->due().at, kNever);
  JobEvent loud_event;
  loud_event.time = 15;
  loud_event.kind = EventKind::kCancelled;
  loud_event.job = JobId{1};
  driven.engine->apply(15, std::span(&loud_event, 1));
  EXPECT_EQ(driven.engine->due().at, 15);
}

// Asked again whenever a command is answered, a policy that regroups would stop for ever what takes
// long to start.
TEST(Due, WhatATurnStoppedIsNoNews) {
  DrivenEngine driven;
  driven.submit(0, 100);
  driven.want(0, 0, 2);
  driven.say(1, EventKind::kStarted, 0, 1);
  driven.want(10, 0, 0);
  driven.say(12, EventKind::kReleased, 0, 1, 9);
  EXPECT_EQ(driven.engine->due().at, kNever) << "it saved what it was believed to save";
  driven.want(20, 0, 2);
  driven.say(21, EventKind::kStarted, 0, 2);
  EXPECT_EQ(driven.engine->due().at, kNever);
  driven.want(30, 0, 0);
  driven.say(32, EventKind::kReleased, 0, 2, 10);
  EXPECT_EQ(driven.engine->due().at, 32) << "it lost work: policies have to know";
  driven.say(33, EventKind::kProgress, 0, 2);
  EXPECT_EQ(driven.engine->due().at, 33) << "nobody has decided yet";
}

}  // namespace
}  // namespace muster
