#include "daemon/launches.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster {
namespace {

using testing::IsEmpty;

RunId run(std::uint32_t job, std::uint32_t launch) { return {JobId{job}, launch}; }

GpuSet gpus(std::uint64_t mask) {
  GpuSet set;
  set.add(NodeId{0}, mask);
  return set;
}

Launches eight_gpus() {
  Launches launches({.start_limit = 10, .stop_margin = 5});
  launches.add_node(NodeId{0}, 8);
  return launches;
}

RunReport report(RunId id, RunEvent event) {
  RunReport made;
  made.run = id;
  made.event = event;
  made.outcome = RunOutcome::kStopped;
  return made;
}

// What is to be told to the executor, in words.
std::vector<std::string> calls(const LaunchEffects& effects) {
  static const char* const kWords[] = {"nothing", "prepare", "go", "stop", "kill"};
  std::vector<std::string> list;
  for (const LaunchCall& call : effects.calls) {
    list.push_back(std::string(kWords[static_cast<std::size_t>(call.command)]) + " " +
                   std::to_string(index(call.run.job)) + "/" + std::to_string(call.run.launch));
  }
  return list;
}

TEST(Launches, APreemptionIsCommittedStepByStep) {
  Launches launches = eight_gpus();
  ASSERT_TRUE(launches.start(run(1, 17), gpus(0xf), Sharing::kExclusive, 0));
  LaunchEffects effects = launches.take();
  EXPECT_EQ(calls(effects), std::vector<std::string>{"prepare 1/17"});
  ASSERT_EQ(effects.rows.size(), 1U);  // planned and preparing at once: one row
  EXPECT_EQ(effects.rows[0].state, RunState::kPreparing);
  launches.heard(report(run(1, 17), RunEvent::kReady), 1);
  EXPECT_EQ(calls(launches.take()), std::vector<std::string>{"go 1/17"});
  launches.heard(report(run(1, 17), RunEvent::kStarted), 2);
  effects = launches.take();
  EXPECT_EQ(effects.news.at(0).news, RunNews::kStarted);
  EXPECT_EQ(effects.rows.at(0).started, 2);

  // Job 2 displaces job 1.
  launches.stop(run(1, 17), {30}, 10);
  ASSERT_TRUE(launches.start(run(2, 1), gpus(0x3), Sharing::kExclusive, 10));
  effects = launches.take();
  EXPECT_EQ(calls(effects), std::vector<std::string>{"stop 1/17"});
  EXPECT_EQ(effects.calls[0].grace.seconds, 30);
  ASSERT_EQ(effects.rows.size(), 2U);
  EXPECT_EQ(effects.rows[0].state, RunState::kStopping);
  EXPECT_EQ(effects.rows[1].state, RunState::kPlanned);
  launches.heard(report(run(1, 17), RunEvent::kExited), 20);
  effects = launches.take();
  EXPECT_EQ(calls(effects), std::vector<std::string>{"prepare 2/1"});
  EXPECT_EQ(effects.rows.at(0).state, RunState::kEnded);
  EXPECT_EQ(effects.rows.at(1).state, RunState::kPreparing);
  EXPECT_EQ(effects.news.at(0).news, RunNews::kReleased);
  EXPECT_EQ(effects.acknowledged.at(0), run(1, 17));
}

TEST(Launches, AJobThatMovesIsNeverInTwoPlaces) {
  Launches launches = eight_gpus();
  ASSERT_TRUE(launches.start(run(1, 1), gpus(0x1), Sharing::kExclusive, 0));
  launches.heard(report(run(1, 1), RunEvent::kReady), 0);
  launches.heard(report(run(1, 1), RunEvent::kStarted), 0);
  launches.take();
  launches.stop(run(1, 1), {5}, 1);
  ASSERT_TRUE(launches.start(run(1, 2), gpus(0x2), Sharing::kExclusive, 1));  // free GPUs
  EXPECT_EQ(calls(launches.take()), std::vector<std::string>{"stop 1/1"});
  EXPECT_TRUE(launches.ledger().holds(run(1, 2)));
  launches.heard(report(run(1, 1), RunEvent::kExited), 3);
  EXPECT_EQ(calls(launches.take()), std::vector<std::string>{"prepare 1/2"});
}

TEST(Launches, AJobIsPutBesideOneThatWasAlone) {
  Launches launches = eight_gpus();
  ASSERT_TRUE(launches.start(run(1, 1), gpus(0x3), Sharing::kExclusive, 0));
  ASSERT_TRUE(launches.start(run(2, 1), gpus(0x4), Sharing::kExclusive, 0));
  launches.take();
  ASSERT_TRUE(launches.start(run(3, 1), gpus(0x2), Sharing::kShared, 1));
  LaunchEffects effects = launches.take();
  EXPECT_EQ(calls(effects), std::vector<std::string>{"prepare 3/1"});
  // What the first of them is now is remembered, too.
  std::map<RunId, Sharing> rows;
  for (const StoredRun& row : effects.rows) rows[row.run] = row.sharing;
  EXPECT_EQ(rows.at(run(1, 1)), Sharing::kShared);
  EXPECT_EQ(rows.at(run(3, 1)), Sharing::kShared);
  EXPECT_FALSE(rows.contains(run(2, 1)));
}

TEST(Launches, AJobBesideOneThatLeavesWaitsForIt) {
  Launches launches = eight_gpus();
  ASSERT_TRUE(launches.start(run(1, 1), gpus(0x1), Sharing::kExclusive, 0));
  launches.stop(run(1, 1), {30}, 1);
  launches.take();
  ASSERT_TRUE(launches.start(run(2, 1), gpus(0x1), Sharing::kShared, 2));
  EXPECT_TRUE(calls(launches.take()).empty());
  launches.heard(report(run(1, 1), RunEvent::kStartFailed), 3);
  EXPECT_EQ(calls(launches.take()), std::vector<std::string>{"prepare 2/1"});
}

TEST(Launches, WhatTakesTooLongIsGivenUpAndKilledAgain) {
  Launches launches = eight_gpus();
  ASSERT_TRUE(launches.start(run(1, 1), gpus(0x1), Sharing::kExclusive, 0));
  launches.take();
  EXPECT_EQ(launches.due(), 10);
  launches.pass_time(10);
  EXPECT_EQ(calls(launches.take()), std::vector<std::string>{"kill 1/1"});
  EXPECT_EQ(launches.due(), 15);
  launches.pass_time(15);
  EXPECT_EQ(calls(launches.take()), std::vector<std::string>{"kill 1/1"});
  launches.heard(report(run(1, 1), RunEvent::kStartFailed), 16);
  const LaunchEffects effects = launches.take();
  EXPECT_EQ(effects.news.at(0).news, RunNews::kReturned);
  EXPECT_EQ(launches.due(), kNever);
  EXPECT_EQ(launches.alive(), 0U);
}

TEST(Launches, ACensusFindsWhatIsGoneAndWhatIsStray) {
  Launches launches = eight_gpus();
  StoredRun running;
  running.run = run(1, 4);
  running.state = RunState::kRunning;
  running.gpus = gpus(0x3);
  StoredRun starting = running;
  starting.run = run(2, 2);
  starting.state = RunState::kStarting;
  starting.gpus = gpus(0xc);
  StoredRun old = running;
  old.run = run(1, 3);
  old.state = RunState::kEnded;
  const StoredRun rows[] = {old, running, starting};
  ASSERT_TRUE(launches.adopt(rows, 100));
  EXPECT_THAT(launches.take().calls, IsEmpty());
  launches.begin_census();
  launches.heard(report(run(2, 2), RunEvent::kSeenReady), 101);
  launches.heard(report(run(1, 3), RunEvent::kSeenRunning), 101);
  launches.counted(102);
  const LaunchEffects effects = launches.take();
  EXPECT_EQ(calls(effects), (std::vector<std::string>{"go 2/2", "kill 1/3"}));
  ASSERT_EQ(effects.news.size(), 2U);
  EXPECT_TRUE(effects.news[0].strange);
  EXPECT_EQ(effects.news[1].run, run(1, 4));
  EXPECT_EQ(effects.news[1].news, RunNews::kLost);
}

TEST(Launches, ALostNodeTakesItsRunsWithIt) {
  Launches launches = eight_gpus();
  launches.add_node(NodeId{1}, 8);
  GpuSet both = gpus(0x1);
  both.add(NodeId{1}, 0x1);
  ASSERT_TRUE(launches.start(run(1, 1), both, Sharing::kExclusive, 0));
  ASSERT_TRUE(launches.start(run(2, 1), gpus(0x1), Sharing::kExclusive, 0));
  ASSERT_TRUE(launches.start(run(3, 1), gpus(0x2), Sharing::kExclusive, 0));
  launches.take();
  launches.lose(NodeId{1}, 5);
  const LaunchEffects effects = launches.take();
  ASSERT_EQ(effects.news.size(), 1U);
  EXPECT_EQ(effects.news[0].news, RunNews::kReturned);
  EXPECT_EQ(launches.state(run(3, 1)), RunState::kPreparing);
  EXPECT_EQ(calls(effects), std::vector<std::string>{"prepare 2/1"});
}

TEST(Launches, ADecisionThatCannotBeIsRefusedWhole) {
  Launches launches = eight_gpus();
  EXPECT_FALSE(launches.start(run(1, 1), gpus(0x100), Sharing::kExclusive, 0));
  EXPECT_EQ(launches.alive(), 0U);
  EXPECT_TRUE(launches.start(run(1, 1), gpus(0x80), Sharing::kExclusive, 0));
  EXPECT_FALSE(launches.start(run(1, 1), gpus(0x40), Sharing::kExclusive, 0));
}

TEST(Launches, AStopSaysWhichOfItsNodesTheNextLaunchKeeps) {
  Launches launches({.start_limit = 10, .stop_margin = 5});
  for (std::uint32_t node : {0, 1, 2}) launches.add_node(NodeId{node}, 4);
  const auto on = [](const std::vector<std::uint64_t>& masks) {
    GpuSet set;
    for (std::size_t i = 0; i < masks.size(); ++i) {
      if (masks[i] != 0) set.add(NodeId{static_cast<std::uint32_t>(i)}, masks[i]);
    }
    return set;
  };
  std::uint32_t job = 0;
  const auto next_after = [&](const std::vector<std::uint64_t>& before,
                              const std::vector<std::uint64_t>& after) {
    ++job;
    EXPECT_TRUE(launches.start(run(job, 1), on(before), Sharing::kExclusive, 0));
    launches.heard(report(run(job, 1), RunEvent::kReady), 0);
    launches.heard(report(run(job, 1), RunEvent::kStarted), 0);
    launches.take();
    launches.stop(run(job, 1), Grace{5}, 1);
    EXPECT_TRUE(launches.start(run(job, 2), on(after), Sharing::kExclusive, 1));
    const LaunchEffects effects = launches.take();
    EXPECT_EQ(calls(effects), std::vector<std::string>{"stop " + std::to_string(job) + "/1"});
    const std::uint32_t next = effects.calls.at(0).next.launch;
    launches.stop(run(job, 2), Grace{0}, 2);
    launches.heard(report(run(job, 1), RunEvent::kExited), 2);
    launches.take();
    return next;
  };
  EXPECT_EQ(next_after({0b11, 0b11, 0}, {0b11, 0, 0}), 2U);
  EXPECT_EQ(next_after({0b11, 0b11, 0b11}, {0b1100, 0, 0b11}), 2U) << "indexes are names only";
  EXPECT_EQ(next_after({0b11, 0b11, 0}, {0b1, 0, 0}), 0U) << "another number of GPUs";
  EXPECT_EQ(next_after({0b11, 0b11, 0}, {0, 0, 0b11}), 0U) << "another node";
  EXPECT_EQ(next_after({0b11, 0b11, 0}, {0b11, 0b11, 0b11}), 0U) << "it grows";
}

}  // namespace
}  // namespace muster
