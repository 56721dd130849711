// Continuing from a world: what is refused, and what of the past is known afterwards.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine/world.h"
#include "support/driven_engine.h"

namespace muster {
namespace {

TEST(Adopt, RefusesAWorldThatCannotBe) {
  DrivenEngine first;
  first.submit(0, 100, 1);
  first.want(0, 0, 1);
  EngineWorld world = first.engine->world();
  ASSERT_EQ(world.jobs.size(), 1U);
  world.jobs.push_back(world.jobs[0]);
  world.jobs[1].spec.id = JobId{1};
  world.jobs[1].gpus.clear();
  world.jobs[1].gpus.add(NodeId{0}, 0b11);
  world.next_id = 2;
  DrivenEngine second;
  const Status twice = second.engine->adopt(world);
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().message, "job 1 runs on GPUs of node 0 that another job holds");
  world.jobs[1].gpus.clear();
  world.jobs[1].gpus.add(NodeId{9}, 1);
  DrivenEngine third;
  EXPECT_EQ(third.engine->adopt(world).error().message,
            "job 1 runs on GPUs of node 9 that are not there");
}

// A daemon that was restarted: what ran runs on, and late words are still told apart.
TEST(Adopt, GoesOnWithTheLaunchesOfBefore) {
  DrivenEngine first;
  first.submit(0, 100, 1);
  first.submit(0, 100, 1);
  first.want(0, 0, 1);
  first.say(4, EventKind::kStarted, 0, 1);
  DrivenEngine second;
  ASSERT_TRUE(second.engine->adopt(first.engine->world()));
  second.wanted[0] = 1;
  EXPECT_EQ(second.job(0)->launch, 1U);
  EXPECT_EQ(second.job(0)->waited_before, 4);
  EXPECT_TRUE(second.job(1)->waiting());
  second.say(104, EventKind::kFinished, 0, 1);
  EXPECT_EQ(second.log.job(0).gpu_seconds, 100);
  second.submit(110, 10);
  EXPECT_EQ(second.engine->arrived(), 3);
}

// Three starts failed: the pause goes on where it was, and the next one is twice as long.
TEST(Adopt, KeepsPausesAfterFailedStarts) {
  DrivenEngine first;
  first.submit(0, 100);
  first.submit(0, 100);
  first.want(0, 0, 1);
  Seconds now = 5;
  for (const Seconds pause : {10, 20, 0}) {
    first.say(now, EventKind::kReturned, 0, first.job(0)->launch);
    now += pause;
    if (pause > 0) first.turn(now);
  }
  ASSERT_EQ(first.engine->due().at, now + 40);
  first.turn(now + 15);
  const EngineWorld world = first.engine->world();
  ASSERT_EQ(world.back_offs.size(), 1U);
  DrivenEngine second;
  ASSERT_TRUE(second.engine->adopt(world));
  second.wanted[0] = 1;
  second.wanted[1] = 1;
  EXPECT_EQ(second.job(0)->failed_starts, 3U);
  second.turn(now + 16);
  EXPECT_TRUE(second.job(1)->starting());
  EXPECT_FALSE(second.job(0)->running());
  EXPECT_EQ(second.engine->due().at, now + 40);
  second.turn(now + 40);
  ASSERT_TRUE(second.job(0)->starting());
  second.say(now + 41, EventKind::kReturned, 0, second.job(0)->launch);
  EXPECT_EQ(second.engine->due().at, now + 41 + 80);
}

// Who runs is not to be started later, and who is not there is not to be started at all.
TEST(Adopt, RefusesPausesOfJobsThatDoNotWait) {
  DrivenEngine first;
  first.submit(0, 100);
  first.want(0, 0, 1);
  EngineWorld world = first.engine->world();
  for (const std::uint32_t job : {0U, 7U}) {
    world.back_offs = {{JobId{job}, 50}};
    DrivenEngine second;
    const Status adopted = second.engine->adopt(world);
    ASSERT_FALSE(adopted);
    EXPECT_EQ(adopted.error().message,
              fmt::format("job {} is to be started later, but does not wait", job));
  }
}

TEST(Adopt, KeepsWhatJobsReported) {
  DrivenEngine first;
  first.submit(0, 100);
  first.submit(0, 100);
  JobEvent event;
  event.time = 1;
  event.kind = EventKind::kMetric;
  event.job = JobId{1};
  event.metric = DrivenEngine::kMetric;
  event.value = 0.25;
  first.say(event);
  DrivenEngine second;
  ASSERT_TRUE(second.engine->adopt(first.engine->world()));
  const JobMetrics& metrics = second.engine->state().metrics;
  EXPECT_EQ(metrics.of(second.job(1)->self, DrivenEngine::kMetric), 0.25);
  EXPECT_EQ(metrics.of(second.job(0)->self, DrivenEngine::kMetric), std::nullopt);
  EXPECT_TRUE(second.metrics.empty()) << "that is no news";
}

// A dollar for each GPU and second. Job 0 has two GPUs from 0 to 10, is displaced, and has them
// again from 30 to 120: what it and all cost does not depend on a change of engines.
TEST(Adopt, KeepsDollars) {
  Scenario scenario;
  scenario.cluster = uniform_cluster(1, 2);
  scenario.scheduling = {"srtf"};
  scenario.jobs = {job_of(0, 100, 2), job_of(10, 20, 2), job_of(1000, 1, 1)};
  scenario.prices =
      std::make_shared<const PriceBook>(std::vector<PriceBook::Offer>{{kNoSymbol, "", 0, 3600}});
  const RunLog whole = simulate(scenario);
  ASSERT_NEAR(whole.job(0).cost, 200, 1e-9);
  for (const Seconds time : {10, 30}) {
    TestRun run(scenario);
    run.turn_to(time);
    TestRun other(scenario);
    ASSERT_TRUE(other.adopt(run));
    const RunLog& rest = other.run();
    EXPECT_NEAR(rest.job(0).cost, 200, 1e-9) << time;
    double spent = 0;
    for (const RunLog* log : {&run.log(), &rest}) {
      for (const TurnStats& turn : log->turns) spent += turn.spent;
    }
    EXPECT_NEAR(spent, 241, 1e-9) << time;
  }
}

}  // namespace
}  // namespace muster
