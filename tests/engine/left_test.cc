// Whatever is said of a job that has left, or that was never there, changes nothing: least of all
// for the job that lives in its slot by now.
#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine/invariants.h"
#include "engine/job_states.h"

namespace muster {
namespace {

// Job 0 has left in this way.
std::unique_ptr<DrivenEngine> after_it_left(JobState how) {
  auto driven = std::make_unique<DrivenEngine>(uniform_cluster(2, 2));
  if (how == JobState::kRefused) {
    driven->inbox.put(job_of(0, 100, 64));
    driven->turn(0);
    return driven;
  }
  driven->submit(0, 100);
  driven->want(0, 0, 1);
  driven->say(1, EventKind::kStarted, 0, 1);
  if (how == JobState::kFinished) driven->say(2, EventKind::kFinished, 0, 1);
  if (how == JobState::kCancelled) driven->say(2, EventKind::kCancelled, 0, 0);
  if (how != JobState::kFailed) return driven;
  for (std::uint32_t launch = 1; driven->job(0) != nullptr; ++launch) {
    driven->say(2, EventKind::kFailed, 0, launch);
  }
  return driven;
}

// "running 1/0 of 100 at 0, priority 0": what there is to see of job 1.
std::string look_at_the_other(const DrivenEngine& driven) {
  const Job& job = *driven.job(1);
  return fmt::format("{} {}/{} {} of {} at {}, {} GPUs, priority {}, estimate {}, deadline {}",
                     job_state_name(job.state), job.launch, job.ended, job.work_at(20),
                     job.total_work, job.rate, job.gpus.gpus(), job.spec.priority,
                     job.spec.estimate, job.spec.deadline);
}

class Left : public ::testing::TestWithParam<JobState> {};

// Of job 0, and of one that was never there; where the hint is right, wrong and missing.
std::vector<JobEvent> all_that_can_be_said(Seconds now, Slot slot) {
  std::vector<JobEvent> all;
  JobEvent event;
  event.time = now;
  event.metric = DrivenEngine::kMetric;
  event.work = 77;
  event.rate = 3;
  event.value = 2;
  for (std::uint8_t kind = 0; kind < kEventKinds; ++kind) {
    event.kind = EventKind{kind};
    if (gone_through_in(event.kind) == GoneThroughIn::kNodesTest) continue;
    for (std::uint8_t revision = 0; revision < kRevisions; ++revision) {
      event.revision = Revision{revision};
      for (const JobId job : {JobId{0}, JobId{9}}) {
        event.job = job;
        for (const Slot hint : {slot, kNoSlot, Slot{999}}) {
          event.slot = hint;
          for (event.launch = 0; event.launch <= 2; ++event.launch) all.push_back(event);
        }
      }
    }
  }
  return all;
}

TEST_P(Left, WhatIsSaidOfItChangesNothing) {
  const auto driven = after_it_left(GetParam());
  ASSERT_EQ(driven->log.job(0).status, GetParam());
  const Slot slot{0};
  const std::size_t orders = driven->backend.ordered.size();
  const std::size_t decisions = driven->log.decisions.size();
  for (const JobEvent& event : all_that_can_be_said(5, slot)) driven->say(event);
  EXPECT_EQ(driven->backend.ordered.size(), orders);
  EXPECT_EQ(driven->log.decisions.size(), decisions);
  driven->submit(6, 100);
  driven->want(6, 1, 1);
  driven->say(7, EventKind::kStarted, 1, 1);
  ASSERT_EQ(driven->job(1)->self, slot);
  const std::string before = look_at_the_other(*driven);
  const std::size_t all_decisions = driven->log.decisions.size();
  for (const JobEvent& event : all_that_can_be_said(20, slot)) {
    driven->say(event);
    ASSERT_EQ(look_at_the_other(*driven), before)
        << "event " << static_cast<int>(event.kind) << ", launch " << event.launch;
  }
  EXPECT_EQ(driven->backend.ordered.size(), orders + 1);
  EXPECT_EQ(driven->log.decisions.size(), all_decisions);
  EXPECT_EQ(driven->log.jobs.size(), 1U);
  EXPECT_TRUE(driven->metrics.empty());
  EXPECT_EQ(driven->engine->state().metrics.of(slot, DrivenEngine::kMetric), std::nullopt);
  EXPECT_EQ(broken_invariant(*driven->engine), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Ways, Left, ::testing::ValuesIn(kLeft),
                         [](const auto& test) { return std::string(job_state_name(test.param)); });

// The states that the tests of events go through are all in which a job can be.
TEST(States, AreAllGoneThrough) {
  std::set<JobState> seen;
  for (const State state : kStates) {
    const auto driven = bring_to(state);
    seen.insert(anywhere(*driven)->state);
    EXPECT_EQ(std::count(std::begin(kStates), std::end(kStates), state), 1);
  }
  EXPECT_EQ(seen, std::set<JobState>(std::begin(kThere), std::end(kThere)));
  std::size_t states = 0;
  for (std::size_t i = 0; i < std::size(kThere) + std::size(kLeft); ++i) {
    const auto state = static_cast<JobState>(i);
    const bool there = std::count(std::begin(kThere), std::end(kThere), state) == 1;
    const bool left = std::count(std::begin(kLeft), std::end(kLeft), state) == 1;
    EXPECT_NE(there, left) << job_state_name(state);
    EXPECT_EQ(has_left(state), left) << job_state_name(state);
    ++states;
  }
  EXPECT_EQ(states, 8U);
}

}  // namespace
}  // namespace muster
