// Nodes and GPUs that are drained, lost, taken away and come back, in every state of a job.
#include <bit>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "engine/invariants.h"
#include "engine/job_states.h"

namespace muster {
namespace {

JobEvent node_event(Seconds now, EventKind kind, std::uint32_t node) {
  JobEvent event;
  event.time = now;
  event.kind = kind;
  event.node = NodeId{node};
  return event;
}

// The job's first node; where it has no GPUs, the one on which it was first.
std::uint32_t node_of(const DrivenEngine& driven) {
  const Job& job = *anywhere(driven);
  return job.gpus.empty() ? 0 : static_cast<std::uint32_t>(index(job.gpus[0].node));
}

JobEvent gpu_event(const DrivenEngine& driven, Seconds now, EventKind kind) {
  JobEvent event = node_event(now, kind, node_of(driven));
  const Job& job = *anywhere(driven);
  event.gpu = job.gpus.empty() ? 0 : std::countr_zero(job.gpus[0].mask);
  return event;
}

// Who holds what is lost goes back to its last checkpoint and is placed anew, whether it has begun
// or not; whatever is left of the launch is told to go. A job without GPUs takes no notice: what is
// left of it there is heard of from the backend.
TEST(Nodes, ThatAreLostSendTheirJobsBackInEveryState) {
  const std::map<State, const char*> expected = {
      {State::kQueued, "queued 0/0"},         {State::kStarting, "starting 2/0 lost"},
      {State::kRunning, "starting 2/0 lost"}, {State::kMoving, "starting 3/0 lost"},
      {State::kStopping, "stopping 1/0"},     {State::kReleased, "preempted 1/1"},
      {State::kAgain, "starting 3/0 lost"},   {State::kTakenBack, "stopping 2/0"},
      {State::kOnHold, "on hold 1/0"},        {State::kHeld, "held 0/0"},
      {State::kHeldAgain, "held 1/0"}};
  for (const EventKind kind :
       {EventKind::kNodeDown, EventKind::kNodeRemoved, EventKind::kGpuDown}) {
    for (const State state : kStates) {
      SCOPED_TRACE(static_cast<int>(kind) * 100 + static_cast<int>(state));
      const auto driven = bring_to(state);
      const bool had_gpus = !anywhere(*driven)->gpus.empty();
      const bool of_gpu = kind == EventKind::kGpuDown;
      const JobEvent lost =
          of_gpu ? gpu_event(*driven, 20, kind) : node_event(20, kind, node_of(*driven));
      driven->backend.ordered.clear();
      driven->say(lost);
      EXPECT_EQ(look_at(*driven), expected.at(state));
      EXPECT_EQ(driven->engine->cluster().usable_gpus(), of_gpu ? 3 : 2);
      EXPECT_EQ(broken_invariant(*driven->engine), std::nullopt);
      ASSERT_EQ(driven->backend.ordered.size(), had_gpus ? 2U : 0U);
      if (had_gpus) {
        EXPECT_EQ(driven->backend.ordered[0].kind, CommandKind::kStop);
        EXPECT_FALSE(driven->backend.ordered[0].graceful) << "there is nobody who could save";
        EXPECT_EQ(driven->backend.ordered[1].kind, CommandKind::kStart);
      }
      JobEvent back = lost;
      back.time = 30;
      back.kind = of_gpu                            ? EventKind::kGpuUp
                  : kind == EventKind::kNodeRemoved ? EventKind::kNodeAdded
                                                    : EventKind::kNodeUp;
      driven->say(back);
      EXPECT_EQ(look_at(*driven), expected.at(state));
      EXPECT_EQ(driven->engine->cluster().usable_gpus(), 4);
      EXPECT_EQ(broken_invariant(*driven->engine), std::nullopt);
    }
  }
}

// What the two tests of every state say.
TEST(Nodes, EveryEventIsGoneThrough) {
  const std::set<EventKind> said = {
      EventKind::kNodeDown,    EventKind::kNodeUp,    EventKind::kGpuDown, EventKind::kGpuUp,
      EventKind::kNodeRemoved, EventKind::kNodeAdded, EventKind::kDrained, EventKind::kUndrained};
  for (std::uint8_t kind = 0; kind < kEventKinds; ++kind) {
    const bool of_nodes = gone_through_in(EventKind{kind}) == GoneThroughIn::kNodesTest;
    EXPECT_EQ(said.contains(EventKind{kind}), of_nodes) << int{kind};
  }
}

TEST(Nodes, ThatAreDrainedLeaveJobsAloneInEveryState) {
  for (const State state : kStates) {
    SCOPED_TRACE(static_cast<int>(state));
    const auto driven = bring_to(state);
    const std::string before = look_at(*driven);
    const std::uint32_t node = node_of(*driven);
    driven->backend.ordered.clear();
    for (const EventKind kind : {EventKind::kDrained, EventKind::kUndrained}) {
      driven->say(node_event(20, kind, node));
      EXPECT_EQ(look_at(*driven), before);
      EXPECT_EQ(broken_invariant(*driven->engine), std::nullopt);
    }
    EXPECT_TRUE(driven->backend.ordered.empty());
  }
}

TEST(Nodes, ThatAreDrainedTakeNothingNew) {
  DrivenEngine driven(uniform_cluster(2, 1));
  for (int i = 0; i < 3; ++i) driven.submit(0, 100, 1);
  driven.want(0, 0, 1);
  driven.say(0, EventKind::kStarted, 0, 1);
  const NodeId node = driven.job(0)->gpus[0].node;
  driven.say(node_event(5, EventKind::kDrained, static_cast<std::uint32_t>(node)));
  EXPECT_TRUE(driven.job(0)->running());
  EXPECT_EQ(driven.engine->cluster().usable_gpus(), 2);
  driven.wanted[1] = 1;
  driven.wanted[2] = 1;
  driven.turn(6);
  EXPECT_TRUE(driven.job(1)->starting());
  EXPECT_FALSE(driven.job(2)->running());
  driven.wanted[0] = 0;
  driven.say(50, EventKind::kFinished, 0, 1);
  EXPECT_EQ(driven.engine->cluster().usable_gpus(), 1);
  EXPECT_FALSE(driven.job(2)->running());
  EXPECT_EQ(broken_invariant(*driven.engine), std::nullopt);
  driven.say(node_event(60, EventKind::kUndrained, static_cast<std::uint32_t>(node)));
  EXPECT_TRUE(driven.job(2)->starting());
  EXPECT_EQ(driven.engine->cluster().usable_gpus(), 2);
}

TEST(Nodes, ComeAndGo) {
  DrivenEngine driven(uniform_cluster(2, 1));
  driven.submit(0, 100, 1);
  driven.want(0, 0, 1);
  driven.say(0, EventKind::kStarted, 0, 1);
  const auto node = static_cast<std::uint32_t>(driven.job(0)->gpus[0].node);
  driven.say(node_event(10, EventKind::kNodeRemoved, node));
  EXPECT_EQ(driven.engine->cluster().usable_gpus(), 1);
  EXPECT_EQ(driven.job(0)->restarts, 1);
  EXPECT_TRUE(driven.job(0)->starting());
  driven.say(node_event(20, EventKind::kNodeAdded, node));
  EXPECT_EQ(driven.engine->cluster().usable_gpus(), 2);
  EXPECT_TRUE(driven.engine->state().removed.empty());
}

// The schedule takes away two nodes of three, and a person puts one of them back: the cluster is as
// whole as it will be, so a job that needs all three is given up, and not only after many failures.
TEST(Nodes, ThatAPersonPutBackAreNotHopedForTwice) {
  Scenario scenario;
  scenario.cluster = uniform_cluster(3, 4);
  scenario.cluster.schedule = {{1, NodeId{2}, false}, {10, NodeId{1}, false}};
  scenario.jobs = {job_of(0, 5, 12), job_of(30, 5, 12)};
  scenario.injected = {node_event(5, EventKind::kNodeRemoved, 1),
                       node_event(20, EventKind::kNodeAdded, 1)};
  scenario.failures.node_mtbf = 1000;
  scenario.failures.node_repair = 10;
  const RunLog log = simulate(scenario);
  EXPECT_EQ(log.job(1).reason, Reason::kNeverFits);
  EXPECT_LT(log.job(1).end, 2000);
}

}  // namespace
}  // namespace muster
