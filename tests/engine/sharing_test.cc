// Groups of jobs on the same GPUs, and jobs that change size. Timelines are computed by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/scripted_policy.h"
#include "support/simulation.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Scenario scripted(ScriptedPolicy::Script script, std::vector<Seconds> wakes = {}) {
  Scenario scenario;
  scenario.policy_sets = scripted_set(std::move(script), std::move(wakes));
  return scenario;
}

JobSpec elastic_job(Seconds arrival, Seconds duration, int gpus, int least, int most) {
  JobSpec job = job_of(arrival, duration, gpus);
  job.min_gpus = least;
  job.max_gpus = most;
  return job;
}

TEST(Groups, OfTwoSlowEachOtherDownUntilOneIsDone) {
  Scenario scenario = scripted([](const View& view, Plan& plan) {
    add_request(view, plan, {0, 1}, 2);
  });
  scenario.cluster = uniform_cluster(1, 2);
  scenario.jobs = {job_of(0, 10, 2), job_of(0, 20, 2)};
  scenario.perf = {{"sharing", {{"loss", "0.5"}}}};
  const RunLog log = simulate(scenario);
  // Both at half speed until 20; then the second alone with 10 left.
  EXPECT_EQ(log.job(0).end, 20);
  EXPECT_EQ(log.job(1).end, 30);
  EXPECT_EQ(log.job(1).start, 0);
  EXPECT_THAT(log.lines({Action::kStart}),
              ElementsAre("0 start 0 gpus=2 other=- detail=0 first-in-order",
                          "0 start 1 gpus=2 other=0 detail=0 grouped"));
  for (const TurnStats& turn : log.turns) EXPECT_LE(turn.used_gpus, 2);
  EXPECT_EQ(log.turns.front().used_gpus, 2);
  EXPECT_EQ(log.turns.back().used_gpus, 0);
}

TEST(Groups, OfFourRunTogether) {
  Scenario scenario = scripted([](const View& view, Plan& plan) {
    add_request(view, plan, {0, 1, 2, 3}, 1);
  });
  scenario.cluster = uniform_cluster(1, 1);
  scenario.jobs = {job_of(0, 1), job_of(0, 1), job_of(0, 1), job_of(0, 2)};
  scenario.perf = {{"sharing", {{"loss", "0.5"}}}};
  const RunLog log = simulate(scenario);
  // An eighth of the speed each until 8; then the last one has 1 left.
  for (const int id : {0, 1, 2}) EXPECT_EQ(log.job(id).end, 8) << id;
  EXPECT_EQ(log.job(3).end, 9);
}

TEST(Groups, ALaterJobJoinsOneThatRuns) {
  Scenario scenario = scripted([](const View& view, Plan& plan) {
    add_request(view, plan, {0, 1}, 1);
  });
  scenario.cluster = uniform_cluster(1, 1);
  scenario.jobs = {job_of(0, 10), job_of(4, 10)};
  scenario.perf = {{"sharing", {{"loss", "0.5"}}}};
  const RunLog log = simulate(scenario);
  // 4 alone, then half speed: the first ends at 16; the second has 6 done and ends at 20.
  EXPECT_EQ(log.job(0).end, 16);
  EXPECT_EQ(log.job(1).end, 20);
  EXPECT_EQ(log.job(0).preemptions, 0);
}

// Two jobs of two GPUs share them at half speed, and from 10 s on they are to have two each.
Scenario pair_until_ten(int nodes) {
  Scenario scenario = scripted(
      [](const View& view, Plan& plan) {
        if (view.now < 10) {
          add_request(view, plan, {0, 1}, 2);
        } else {
          add_request(view, plan, {0}, 2);
          add_request(view, plan, {1}, 2);
        }
      },
      {10});
  scenario.cluster = uniform_cluster(nodes, 2);
  scenario.jobs = {job_of(0, 10, 2), job_of(0, 20, 2)};
  scenario.perf = {{"sharing", {{"loss", "0.5"}}}};
  return scenario;
}

TEST(Groups, ComeApartWhenThePlanSaysSo) {
  const RunLog log = simulate(pair_until_ten(2));
  // 5 done each at 10, full speed from there; the second one moves to the other node.
  EXPECT_EQ(log.job(0).end, 15);
  EXPECT_EQ(log.job(1).end, 25);
  EXPECT_EQ(log.job(0).preemptions, 0);
  EXPECT_THAT(log.lines({Action::kMove, Action::kStop, Action::kResize}),
              ElementsAre("10 move 1 gpus=2 other=- detail=1 first-in-order"));
}

TEST(Groups, ComeApartByWaitingWhereThereIsNoRoom) {
  const RunLog log = simulate(pair_until_ten(1));
  EXPECT_EQ(log.job(0).end, 15);
  EXPECT_EQ(log.job(1).end, 30);
  EXPECT_EQ(log.job(1).preemptions, 1);
}

TEST(Groups, ChangePartners) {
  Scenario scenario = scripted(
      [](const View& view, Plan& plan) {
        if (view.now < 10) {
          add_request(view, plan, {0, 1}, 1);
          add_request(view, plan, {2, 3}, 1);
        } else {
          add_request(view, plan, {0, 2}, 1);
          add_request(view, plan, {1, 3}, 1);
        }
      },
      {10});
  scenario.cluster = uniform_cluster(1, 2);
  scenario.jobs = {job_of(0, 10), job_of(0, 10), job_of(0, 10), job_of(0, 10)};
  scenario.perf = {{"sharing", {{"loss", "0.5"}}}};
  const RunLog log = simulate(scenario);
  for (const int id : {0, 1, 2, 3}) EXPECT_EQ(log.job(id).end, 20) << id;
  EXPECT_EQ(log.job(0).preemptions + log.job(1).preemptions + log.job(2).preemptions +
                log.job(3).preemptions,
            2);
}

TEST(Groups, LoseTheirNodeTogether) {
  Scenario scenario = scripted([](const View& view, Plan& plan) {
    add_request(view, plan, {0, 1}, 2);
  });
  scenario.cluster = uniform_cluster(2, 2);
  scenario.cluster.schedule = {{6, NodeId{0}, false}};
  scenario.jobs = {job_of(0, 10, 2), job_of(0, 20, 2)};
  scenario.perf = {{"sharing", {{"loss", "0.5"}}}};
  for (const char* pacing : {"events", "rounds"}) {
    scenario.pacing = {pacing, {}};
    if (*pacing == 'r') scenario.pacing.params["length"] = "10";
    const RunLog log = simulate(scenario);
    // 3 done each at 6. Events: the first has 7 left at half speed, ends at 20, the second at 30.
    // Rounds: both wait from 6 to 10; the first is done at 24, seen at 30, when the second has 13
    // done and 7 left: 37, seen at 40.
    EXPECT_EQ(log.job(0).end, *pacing == 'r' ? 30 : 20) << pacing;
    EXPECT_EQ(log.job(1).end, *pacing == 'r' ? 40 : 30) << pacing;
    EXPECT_EQ(log.job(0).restarts, 1);
    EXPECT_EQ(log.job(1).restarts, 1);
  }
}

TEST(Groups, OutliveAMembersCrash) {
  Scenario scenario = scripted([](const View& view, Plan& plan) {
    add_request(view, plan, {0, 1}, 1);
  });
  scenario.cluster = uniform_cluster(1, 1);
  scenario.jobs = {job_of(0, 10), job_of(0, 10)};
  scenario.perf = {{"sharing", {{"loss", "0.5"}}}};
  scenario.options.max_crashes = 0;
  JobEvent crash;
  crash.time = 4;
  crash.kind = EventKind::kFailed;
  crash.slot = Slot{0};
  crash.job = JobId{0};
  scenario.injected = {crash};
  const RunLog log = simulate(scenario);
  EXPECT_EQ(log.job(0).status, JobState::kFailed);
  EXPECT_EQ(log.job(0).end, 4);
  EXPECT_EQ(log.job(1).end, 12);  // 2 done at 4, then full speed
}

// Two members are done between two rounds: the first one's end must not revive the second.
TEST(Groups, MayEndWithinOneRound) {
  Scenario scenario = scripted([](const View& view, Plan& plan) {
    add_request(view, plan, {0, 1}, 1);
  });
  scenario.cluster = uniform_cluster(1, 1);
  scenario.jobs = {job_of(0, 2), job_of(0, 3), job_of(30, 1)};
  scenario.perf = {{"sharing", {{"loss", "0.5"}}}};
  scenario.pacing = {"slots", {{"length", "10"}}};
  TestRun simulation(scenario);
  simulation.turn_to(10);
  EXPECT_EQ(simulation.engine().left(), 2);
  EXPECT_EQ(simulation.log().job(0).end, 4);
  EXPECT_EQ(simulation.log().job(1).end, 6);
  // Nothing is due before the next arrival.
  simulation.engine().turn();
  EXPECT_EQ(simulation.engine().now(), 30);
}

TEST(Resizing, ChangesSpeedAndCostsARestart) {
  Scenario scenario = scripted(
      [](const View& view, Plan& plan) { add_request(view, plan, {0}, view.now < 10 ? 2 : 4); },
      {10});
  scenario.jobs = {elastic_job(0, 40, 2, 1, 4)};
  scenario.perf = {{"scaling", {{"serial", "0"}}}};
  scenario.cost.restart = 3;
  const RunLog log = simulate(scenario);
  // 10 done at 10, stands still until 13, then twice the speed.
  EXPECT_EQ(log.job(0).end, 28);
  EXPECT_EQ(log.job(0).resizes, 1);
  EXPECT_EQ(log.job(0).preemptions, 0);
  EXPECT_EQ(log.job(0).overhead, 3);
  EXPECT_EQ(log.job(0).queue, 0);
  EXPECT_EQ(log.job(0).gpu_seconds, 2 * 10 + 4 * 18);
  EXPECT_THAT(log.lines({Action::kResize, Action::kStop}),
              ElementsAre("10 resize 0 gpus=4 other=- detail=0 first-in-order"));
}

// One grows while another shrinks: whoever is first in the plan, nobody may lose its GPUs.
TEST(Resizing, GrowsAndShrinksInOneTurn) {
  for (const bool grower_first : {true, false}) {
    Scenario scenario = scripted(
        [grower_first](const View& view, Plan& plan) {
          const bool late = view.now >= 10;
          if (grower_first) add_request(view, plan, {0}, late ? 4 : 2);
          add_request(view, plan, {1}, late ? 2 : 4);
          if (!grower_first) add_request(view, plan, {0}, late ? 4 : 2);
        },
        {10});
    scenario.cluster = uniform_cluster(1, 6);
    scenario.jobs = {elastic_job(0, 40, 2, 1, 4), elastic_job(0, 40, 4, 1, 4)};
    scenario.perf = {{"scaling", {{"serial", "0"}}}};
    const RunLog log = simulate(scenario);
    // The grower: 10 done, then double speed, ends at 25. The shrinker: 10 done, then half speed.
    EXPECT_EQ(log.job(0).end, 25) << grower_first;
    EXPECT_EQ(log.job(1).end, 70) << grower_first;
    EXPECT_THAT(log.lines({Action::kStop}), IsEmpty());
    EXPECT_EQ(log.job(0).resizes, 1);
    EXPECT_EQ(log.job(1).resizes, 1);
  }
}

// A policy that resizes is asked every round, also while nobody waits.
TEST(Resizing, IsLookedAtThoughNobodyWaits) {
  Scenario scenario;
  scenario.policy_sets = scripted_set(
      [](const View& view, Plan& plan) { add_request(view, plan, {0}, view.now < 20 ? 1 : 4); }, {},
      {.preemptive = true,
       .stable_between_events = false,
       .resizes = true,
       .needs_periodic_turns = true});
  scenario.jobs = {elastic_job(0, 100, 1, 1, 4)};
  scenario.perf = {{"scaling", {{"serial", "0"}}}};
  scenario.pacing = {"rounds", {{"length", "10"}}};
  EXPECT_EQ(simulate(scenario).job(0).end, 40);
}

TEST(Resizing, LetsAJobInThatFitsAtItsLeastSize) {
  Scenario scenario;
  scenario.jobs = {elastic_job(0, 100, 8, 2, 8), elastic_job(0, 100, 8, 5, 8)};
  scenario.perf = {{"scaling", {{"serial", "0"}}}};
  EXPECT_EQ(simulate(scenario).job(0).status, JobState::kRefused);
  scenario.scheduling = {"optimus"};
  EXPECT_EQ(simulate(scenario).job(0).status, JobState::kFinished);
  EXPECT_EQ(simulate(scenario).job(1).status, JobState::kRefused);
}

// A group that grows takes all its members along.
TEST(Resizing, OfAGroupMovesAllMembers) {
  Scenario scenario = scripted(
      [](const View& view, Plan& plan) {
        add_request(view, plan, {0, 1}, view.now < 10 ? 1 : 2);
      },
      {10});
  scenario.jobs = {elastic_job(0, 10, 1, 1, 2), elastic_job(0, 10, 1, 1, 2)};
  scenario.perf = {{"scaling", {{"serial", "0"}}}, {"sharing", {{"loss", "0.5"}}}};
  const RunLog log = simulate(scenario);
  // 5 done at 10; at twice half the speed the other 5 take 5 s.
  EXPECT_EQ(log.job(0).end, 15);
  EXPECT_EQ(log.job(1).end, 15);
  EXPECT_EQ(log.job(0).resizes, 1);
  EXPECT_EQ(log.job(1).resizes, 1);
}

}  // namespace
}  // namespace muster
