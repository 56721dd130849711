// What becomes of jobs: costs, losses, failures, ends. Every timeline is computed by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/simulation.h"

namespace muster {
namespace {

using ::testing::ElementsAre;

JobEvent crash_of(Seconds time, std::uint32_t slot, std::uint32_t job) {
  JobEvent event;
  event.time = time;
  event.kind = EventKind::kFailed;
  event.slot = Slot{slot};
  event.job = JobId{job};
  return event;
}

JobEvent gpu_event(Seconds time, EventKind kind, std::uint32_t node, int gpu) {
  JobEvent event;
  event.time = time;
  event.kind = kind;
  event.node = NodeId{node};
  event.gpu = gpu;
  return event;
}

// A long job that is pushed out at 30 s by one of 10 s.
Scenario pushed_out() {
  Scenario scenario;
  scenario.cluster = uniform_cluster(1, 2);
  scenario.jobs = {job_of(0, 100, 2), job_of(30, 10, 2)};
  scenario.scheduling = {"srtf"};
  scenario.cost.first_start = 2;
  scenario.cost.restart = 5;
  return scenario;
}

TEST(RestartCost, IsPaidAtEveryStart) {
  const RunLog log = simulate(pushed_out());
  const JobRecord first = log.job(0);
  // Works from 2 to 30, waits until 42, works from 47 for the remaining 72.
  EXPECT_EQ(first.end, 119);
  EXPECT_EQ(first.queue, 12);
  EXPECT_EQ(first.overhead, 7);
  EXPECT_EQ(first.preemptions, 1);
  EXPECT_EQ(first.restarts, 0);
  EXPECT_EQ(first.lost_work, 0);
  EXPECT_EQ(first.gpu_seconds, 2 * (30 + 77));
  const JobRecord second = log.job(1);
  EXPECT_EQ(second.start, 30);
  EXPECT_EQ(second.end, 42);
  EXPECT_EQ(second.overhead, 2);
}

// For looking ahead: time slicing is followed ever more roughly, and no GPU idles for that.
TEST(Calm, DisplacesLessAndLessOften) {
  Scenario scenario;
  scenario.cluster = uniform_cluster(1, 1);
  scenario.jobs = {job_of(0, 1000), job_of(0, 1000), job_of(0, 1000), job_of(5, 1)};
  scenario.scheduling = {"las", {{"quantum", "10"}}};
  const RunLog exact = simulate(scenario);
  scenario.options.calm = 0.5;
  const RunLog rough = simulate(scenario);
  const auto stops = [](const RunLog& log) { return log.lines({Action::kStop}).size(); };
  EXPECT_GT(stops(exact), 250U);
  EXPECT_LT(stops(rough), 30U);
  EXPECT_GT(stops(rough), 5U);
  for (const RunLog* log : {&exact, &rough}) {
    ASSERT_EQ(log->jobs.size(), 4U);
    EXPECT_EQ(log->jobs.back().end, 3001) << "whoever ends is followed at once";
    EXPECT_EQ(log->job(3).end, 26) << "what is near is seen as exactly";
  }
}

TEST(RestartCost, DependsOnModelAndSize) {
  Scenario scenario = pushed_out();
  const Symbol model = scenario.symbols->intern("resnet");
  scenario.jobs[0].model = model;
  scenario.cost.by_model[{model, 2}] = 20;
  EXPECT_EQ(simulate(scenario).job(0).end, 134);
  scenario.cost.by_model.clear();
  scenario.cost.by_model[{model, 0}] = 10;
  scenario.cost.by_model[{model, 4}] = 50;
  EXPECT_EQ(simulate(scenario).job(0).end, 124);
}

TEST(Checkpoints, BoundWhatAStopWithoutSavingLoses) {
  Scenario scenario = pushed_out();
  scenario.cost.checkpoint_interval = 10;
  scenario.cost.stop_saves = false;
  const JobRecord first = simulate(scenario).job(0);
  // Of the 28 s of work done, the checkpoint at 20 is kept.
  EXPECT_EQ(first.lost_work, 8);
  EXPECT_EQ(first.end, 127);
}

TEST(Checkpoints, AreKeptAcrossNodeLoss) {
  Scenario scenario;
  scenario.cluster = uniform_cluster(1, 1);
  scenario.cluster.schedule = {{25, NodeId{0}, false}, {40, NodeId{0}, true}};
  scenario.jobs = {job_of(0, 100)};
  scenario.cost.checkpoint_interval = 10;
  const RunLog log = simulate(scenario);
  const JobRecord job = log.job(0);
  EXPECT_EQ(job.end, 120);
  EXPECT_EQ(job.lost_work, 5);
  EXPECT_EQ(job.restarts, 1);
  EXPECT_EQ(job.preemptions, 0);
  EXPECT_EQ(job.queue, 15);
  EXPECT_EQ(job.gpu_seconds, 25 + 80);
  EXPECT_THAT(log.lines({Action::kStop, Action::kNodeDown, Action::kNodeUp}),
              ElementsAre("25 node-down - gpus=0 other=- detail=0 node-lost",
                          "25 stop 0 gpus=1 other=- detail=0 node-lost",
                          "40 node-up - gpus=0 other=- detail=0 node-returned"));
}

TEST(Checkpoints, WithoutThemNodeLossCostsNoWork) {
  Scenario scenario;
  scenario.cluster = uniform_cluster(1, 1);
  scenario.cluster.schedule = {{25, NodeId{0}, false}, {40, NodeId{0}, true}};
  scenario.jobs = {job_of(0, 100)};
  EXPECT_EQ(simulate(scenario).job(0).end, 115);
}

// In rounds a failure is seen at the next turn, but work stops counting when it happened.
TEST(NodeLoss, BetweenRoundsEndsWorkWhenItHappens) {
  Scenario scenario;
  scenario.cluster = uniform_cluster(2, 1);
  scenario.cluster.schedule = {{25, NodeId{0}, false}};
  scenario.jobs = {job_of(0, 100)};
  scenario.pacing = {"rounds", {{"length", "10"}}};
  const JobRecord job = simulate(scenario).job(0);
  // 25 done, moved to the other node at 30, 75 left, done at 105, seen at 110.
  EXPECT_EQ(job.end, 110);
  EXPECT_EQ(job.restarts, 1);
}

TEST(NodeJoin, LetsWaitingJobsStart) {
  Scenario scenario;
  scenario.cluster = uniform_cluster(2, 1);
  scenario.cluster.schedule = {{50, NodeId{1}, true}};
  scenario.jobs = {job_of(0, 100), job_of(0, 100)};
  const RunLog log = simulate(scenario);
  EXPECT_EQ(log.job(0).start, 0);
  EXPECT_EQ(log.job(1).start, 50);
  EXPECT_EQ(log.job(1).end, 150);
  EXPECT_EQ(log.turns.front().usable_gpus, 1);
  EXPECT_EQ(log.turns.back().usable_gpus, 2);
}

TEST(GpuLoss, HitsOnlyWhoHoldsTheGpu) {
  Scenario scenario;
  scenario.cluster = uniform_cluster(1, 3);
  scenario.jobs = {job_of(0, 100), job_of(0, 100)};
  scenario.injected = {gpu_event(20, EventKind::kGpuDown, 0, 1),
                       gpu_event(30, EventKind::kGpuUp, 0, 1)};
  const RunLog log = simulate(scenario);
  EXPECT_EQ(log.job(0).end, 100);
  EXPECT_EQ(log.job(0).restarts, 0);
  // The second job was on GPU 1 and goes on at once on GPU 2.
  EXPECT_EQ(log.job(1).restarts, 1);
  EXPECT_EQ(log.job(1).end, 100);
  EXPECT_THAT(log.lines({Action::kStop}),
              ElementsAre("20 stop 1 gpus=1 other=- detail=0 gpu-lost"));
  EXPECT_EQ(log.placements.back().second[0].mask, 0b100U);
}

TEST(GpuLoss, LeavesNothingToRunOnUntilTheRepair) {
  Scenario scenario;
  scenario.cluster = uniform_cluster(1, 1);
  scenario.jobs = {job_of(0, 100)};
  scenario.injected = {gpu_event(20, EventKind::kGpuDown, 0, 0),
                       gpu_event(70, EventKind::kGpuUp, 0, 0)};
  EXPECT_EQ(simulate(scenario).job(0).end, 150);
}

TEST(Crash, IsForgivenUpToALimit) {
  Scenario scenario;
  scenario.cluster = uniform_cluster(1, 1);
  scenario.jobs = {job_of(0, 100)};
  scenario.cost.checkpoint_interval = 10;
  scenario.options.max_crashes = 2;
  scenario.injected = {crash_of(15, 0, 0), crash_of(25, 0, 0)};
  const RunLog forgiven = simulate(scenario);
  // 10 kept at 15, then 10 more kept at 25, then 80 left.
  EXPECT_EQ(forgiven.job(0).end, 105);
  EXPECT_EQ(forgiven.job(0).restarts, 2);
  EXPECT_EQ(forgiven.job(0).lost_work, 5);
  scenario.injected.push_back(crash_of(50, 0, 0));
  const RunLog given_up = simulate(scenario);
  EXPECT_EQ(given_up.job(0).status, JobState::kFailed);
  EXPECT_EQ(given_up.job(0).reason, Reason::kCrashed);
  EXPECT_EQ(given_up.job(0).end, 50);
  EXPECT_EQ(given_up.turns.back().used_gpus, 0);
}

TEST(LateWords, AboutJobsThatLeftOrMovedOnChangeNothing) {
  Scenario scenario;
  scenario.cluster = uniform_cluster(1, 1);
  scenario.jobs = {job_of(0, 10), job_of(20, 10)};
  // The slot is recycled: at 25 it is the second job's, and the first one's crash is no news.
  scenario.injected = {crash_of(12, 0, 0), crash_of(25, 0, 0), crash_of(26, 7, 0)};
  JobEvent unknown = crash_of(27, 0, 7);
  unknown.slot = kNoSlot;
  scenario.injected.push_back(unknown);
  const RunLog log = simulate(scenario);
  EXPECT_EQ(log.job(0).end, 10);
  EXPECT_EQ(log.job(1).end, 30);
  EXPECT_EQ(log.job(1).restarts, 0);
}

TEST(ZeroDuration, JobsPassThrough) {
  Scenario scenario;
  scenario.cluster = uniform_cluster(1, 1);
  scenario.jobs = {job_of(5, 0), job_of(5, 0), job_of(5, 3)};
  const RunLog log = simulate(scenario);
  EXPECT_EQ(log.job(0).end, 5);
  EXPECT_EQ(log.job(1).end, 5);
  EXPECT_EQ(log.job(2).end, 8);
}

}  // namespace
}  // namespace muster
