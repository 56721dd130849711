// Sia and Chronus: what they promise and what they give.
#include <gtest/gtest.h>

#include "support/simulation.h"

namespace muster {
namespace {

Scenario two_types() {
  Scenario scenario;
  scenario.cluster = uniform_cluster(4, 4);
  const Symbol fast = scenario.symbols->intern("fast");
  const Symbol slow = scenario.symbols->intern("slow");
  for (std::size_t i = 0; i < 4; ++i) scenario.cluster.nodes[i].gpu_type = i < 2 ? fast : slow;
  scenario.scheduling = {"sia"};
  scenario.placement = {"buddy"};
  scenario.pacing = {"slots", {{"length", "60"}}};
  scenario.perf = {{"scaling", {{"serial", "0.02"}}}, {"gpu-types", {{"speeds", "fast=2,slow=1"}}}};
  return scenario;
}

TEST(Sia, GivesALoneJobTheFastType) {
  Scenario scenario = two_types();
  scenario.jobs = {stretchable_job(0, 40000, 8)};
  TestRun run(scenario);
  run.turn_to(300);
  const View view = run.engine().view();
  ASSERT_EQ(view.jobs.running().size(), 1U);
  const Job& job = view.jobs[view.jobs.running().front()];
  EXPECT_EQ(job.gpus.gpus(), 8);
  EXPECT_LT(index(job.gpus[0].node), 2U);
}

TEST(Sia, UsesBothTypesForTwoJobsAndSharesFairly) {
  Scenario scenario = two_types();
  scenario.jobs = {stretchable_job(0, 40000, 16), stretchable_job(0, 40000, 16)};
  TestRun run(scenario);
  run.turn_to(300);
  EXPECT_EQ(run.engine().view().cluster.used_gpus(), 16);
  EXPECT_EQ(run.engine().view().jobs.running().size(), 2U);
}

// The run tells of every program how far its answer may be from the best.
TEST(Sia, TellsTheGapOfEveryProgram) {
  Scenario scenario = two_types();
  scenario.scheduling.params["gap"] = "1e-9";
  scenario.jobs = {stretchable_job(0, 400, 16), stretchable_job(0, 400, 16)};
  const RunLog log = simulate(scenario);
  int programs = 0;
  for (const TurnStats& turn : log.turns) {
    programs += turn.programs;
    EXPECT_NEAR(turn.gap, 0, 1e-9);
  }
  EXPECT_GT(programs, 0);
}

// A program for every change; where nothing changes, ever fewer.
TEST(Sia, SolvesFewProgramsWhileNothingChanges) {
  Scenario scenario = two_types();
  scenario.jobs = {job_of(0, 60000, 4), job_of(30000, 60000, 4)};
  const RunLog log = simulate(scenario);
  int programs = 0;
  int soon_after_the_second = 0;
  for (const TurnStats& turn : log.turns) {
    programs += turn.programs;
    if (turn.time >= 30000 && turn.time <= 30120) soon_after_the_second += turn.programs;
  }
  EXPECT_GT(log.turns.size(), 1000U);
  EXPECT_LT(programs, 80);
  EXPECT_GE(soon_after_the_second, 1);
  EXPECT_LE(log.job(1).start, 30120);
}

TEST(Sia, LetsJobsOfAFixedSizeChooseTheTypeOnly) {
  Scenario scenario = two_types();
  scenario.jobs = {job_of(0, 3000, 4), job_of(0, 3000, 4), job_of(0, 3000, 4), job_of(0, 3000, 4)};
  const RunLog log = simulate(scenario);
  ASSERT_EQ(log.jobs.size(), 4U);
  for (const auto& [decision, gpus] : log.placements) EXPECT_EQ(gpus.gpus(), 4);
}

JobSpec due(Seconds arrival, Seconds duration, int gpus, Seconds deadline) {
  JobSpec job = job_of(arrival, duration, gpus);
  job.deadline = deadline;
  return job;
}

Scenario leases(const std::string& choice) {
  Scenario scenario;
  scenario.cluster = uniform_cluster(1, 4);
  scenario.scheduling = {"chronus", {{"lease", "100"}, {"choice", choice}, {"padding", "1"}}};
  scenario.placement = {"local-search"};
  return scenario;
}

TEST(Chronus, KeepsItsPromisesAndLetsOthersHaveTheRest) {
  for (const char* choice : {"exact", "greedy"}) {
    Scenario scenario = leases(choice);
    // The last of the three cannot be promised: the first two need all GPUs until 400.
    scenario.jobs = {due(0, 200, 4, 400), due(0, 200, 4, 400), due(1, 100, 4, 400),
                     job_of(1, 50, 2)};
    const RunLog log = simulate(scenario);
    ASSERT_EQ(log.jobs.size(), 4U) << choice;
    EXPECT_LE(log.job(0).end, 400) << choice;
    EXPECT_LE(log.job(1).end, 400) << choice;
    EXPECT_GT(log.job(2).end, 400) << choice;
  }
}

TEST(Chronus, InterruptsALongJobForAnUrgentOne) {
  Scenario scenario = leases("exact");
  scenario.jobs = {due(0, 600, 4, 1500), due(150, 100, 4, 320)};
  const RunLog log = simulate(scenario);
  EXPECT_LE(log.job(1).end, 320);
  EXPECT_LE(log.job(0).end, 1500);
  EXPECT_EQ(log.job(0).preemptions, 1);
}

TEST(Chronus, PrefersTheDeadlineThatIsWorthMore) {
  Scenario scenario = leases("exact");
  JobSpec patient = due(0, 100, 4, 100);
  patient.value = 10;
  patient.later = {{200, 9}};
  JobSpec urgent = due(0, 100, 4, 100);
  urgent.value = 10;
  urgent.later = {{200, 1}};
  scenario.jobs = {patient, urgent};
  const RunLog log = simulate(scenario);
  EXPECT_DOUBLE_EQ(log.job(1).end, 100);
  EXPECT_DOUBLE_EQ(log.job(0).end, 200);
}

TEST(LocalSearch, PlacesInTheOrderThatIsFastest) {
  Scenario scenario;
  scenario.cluster = uniform_cluster(2, 4);
  scenario.placement = {"local-search"};
  scenario.perf = {{"locality", {{"across_nodes", "0.5"}}}};
  // As they come, the single GPUs go to one node and leave the last job two and one.
  scenario.jobs = {job_of(0, 100, 1), job_of(0, 100, 1), job_of(0, 100, 3), job_of(0, 100, 3)};
  const RunLog log = simulate(scenario);
  for (const auto& [decision, gpus] : log.placements) {
    EXPECT_EQ(gpus.nodes(), 1) << "job " << index(decision.job);
  }
}

}  // namespace
}  // namespace muster
