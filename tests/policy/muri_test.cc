// Who is interleaved with whom, from the outside: the decisions of whole runs.
#include <set>

#include <gtest/gtest.h>

#include "perf/interleave.h"
#include "support/simulation.h"

namespace muster {
namespace {

JobSpec staged(Seconds duration, StageTimes stages) {
  JobSpec job = job_of(0, duration);
  job.stage_ms = stages;
  for (const double stage : stages) job.step_ms += stage;
  return job;
}

// Two that load and two that compute.
Scenario four_jobs(ParamTexts params, int gpus = 1) {
  Scenario scenario;
  scenario.cluster = uniform_cluster(1, gpus);
  const StageTimes loads{900, 0, 100, 0};
  const StageTimes computes{100, 0, 900, 0};
  for (const StageTimes& stages : {loads, loads, computes, computes}) {
    scenario.jobs.push_back(staged(1000, stages));
  }
  scenario.scheduling = {"muri", std::move(params)};
  scenario.scheduling.params.try_emplace("priority", "remaining");
  scenario.placement = {"yarn"};
  scenario.perf = {{"interleave"}};
  return scenario;
}

// The most jobs that ran at once.
int most_at_once(const RunLog& log) {
  int most = 0;
  for (const TurnStats& turn : log.turns) most = std::max(most, turn.running);
  return most;
}

TEST(Muri, GroupsOfOneAreOneAfterAnother) {
  const RunLog log = simulate(four_jobs({{"largest_group", "1"}}));
  EXPECT_EQ(most_at_once(log), 1);
  ASSERT_EQ(log.jobs.size(), 4U);
  EXPECT_NEAR(log.jobs.back().end, 4000, 1e-6);
  Scenario alone = four_jobs({});
  alone.scheduling = {"srsf"};
  EXPECT_EQ(simulate(std::move(alone)).job(3).end, log.job(3).end);
}

TEST(Muri, LargerGroupsHoldMoreAtOnce) {
  EXPECT_EQ(most_at_once(simulate(four_jobs({{"largest_group", "2"}, {"dissolve", "false"}}))), 2);
  EXPECT_EQ(most_at_once(simulate(four_jobs({{"largest_group", "4"}, {"dissolve", "false"}}))), 4);
}

// Those that load are paired with those that compute, whatever their place in the queue, and make
// one step in a round of the pair.
TEST(Muri, PairsWhatComplementsEachOther) {
  const RunLog log = simulate(four_jobs({{"largest_group", "2"}}, 2));
  EXPECT_EQ(log.job(0).end, log.job(2).end);
  EXPECT_EQ(log.job(1).end, log.job(3).end);
  const std::vector<JobSpec> jobs = four_jobs({}).jobs;
  const std::array pair = {&jobs[0], &jobs[2]};
  EXPECT_NEAR(log.job(0).end, 1000 * Interleaving{}.period(pair) / Interleaving{}.solo(jobs[0]),
              1e-6);
}

// An error in the profiles changes who is paired, never how fast the pair is; and the same seed
// errs in the same way.
TEST(Muri, NoiseMisleadsTheGroupingAlone) {
  const auto noisy = [](int seed) {
    Scenario scenario = four_jobs({{"largest_group", "2"},
                                   {"dissolve", "false"},
                                   {"noise", "0.9"},
                                   {"seed", std::to_string(seed)}},
                                  2);
    // Stages of their own, or two jobs would have one profile and one error.
    for (std::size_t i = 0; i < scenario.jobs.size(); ++i) {
      scenario.jobs[i].stage_ms[0] += 1e-3 * static_cast<double>(i);
    }
    return scenario;
  };
  std::set<Seconds> ends;
  for (int seed = 1; seed <= 30; ++seed) {
    const RunLog log = simulate(noisy(seed));
    EXPECT_EQ(log.lines(), simulate(noisy(seed)).lines()) << seed;
    ASSERT_EQ(log.jobs.size(), 4U);
    ends.insert(std::round(log.jobs.back().end));
  }
  // Well paired, or with its like: two ends there are, and both come about.
  EXPECT_EQ(ends.size(), 2U);
}

}  // namespace
}  // namespace muster
