// What Tiresias' simulator does beyond what its policies are meant to.
#include <gtest/gtest.h>

#include "artifacts/tiresias/gittins_table.h"
#include "support/simulation.h"

namespace muster {
namespace {

Scenario classes_as_coded(int gpus, std::vector<JobSpec> jobs) {
  Scenario scenario;
  scenario.cluster = uniform_cluster(1, gpus);
  scenario.scheduling = {"multi-dlas-gpu-as-coded", {{"limit", "100"}, {"every", "10"}}};
  scenario.jobs = std::move(jobs);
  return scenario;
}

TEST(MultiDlasAsCoded, RunsNothingBeforeTheFirstAllocation) {
  EXPECT_EQ(simulate(classes_as_coded(1, {job_of(0, 5)})).job(0).start, 10);
}

// Four and two of six GPUs would be right; 0.33 of six are less than one job of two.
TEST(MultiDlasAsCoded, RoundsPartsOfTheDemandToHundredths) {
  std::vector<JobSpec> jobs(12, job_of(0, 5));
  jobs.resize(15, job_of(0, 5, 2));
  const RunLog log = simulate(classes_as_coded(6, jobs));
  for (int i = 0; i < 6; ++i) EXPECT_EQ(log.job(i).start, 10) << i;
  for (int i = 6; i < 15; ++i) EXPECT_GT(log.job(i).start, 10) << i;
}

// The first runs from 1000 and has its 100 GPU-seconds at 1050. At 1010, when the second comes, the
// next demotion is expected after (100 - 10) / 2 seconds.
TEST(MultiDlasAsCoded, PredictsADemotionTooLate) {
  Scenario scenario = classes_as_coded(2, {job_of(0, 500, 2), job_of(1010, 20, 2)});
  scenario.scheduling.params["every"] = "1000";
  const RunLog log = simulate(scenario);
  EXPECT_EQ(log.job(0).start, 1000);
  EXPECT_EQ(log.job(1).start, 1055);
}

// The table has an entry for each past duration, as of a second less. At 4: chance 2/3, service (5
// + 8 + 10) / 3 rounded down = 7, as nothing is taken off.
TEST(GittinsAsCoded, IsLookedUpInATableOfRoundedNumbers) {
  DurationSample sample(10);
  sample.read("5,8,100");
  EXPECT_NEAR(gittins_as_coded(sample, 0), 1e6 * 0.66667 / 7, 1e-3);
  EXPECT_EQ(gittins_as_coded(sample, 4.9), gittins_as_coded(sample, 0)) << "the same entry";
  // At 7: chance 1/2, service (8 + 10) / 2 = 9.
  EXPECT_NEAR(gittins_as_coded(sample, 5), 1e6 * 0.5 / 9, 1e-3);
  EXPECT_EQ(gittins_as_coded(sample, 95), 0) << "the longest never counts as over";
  EXPECT_EQ(gittins_as_coded(sample, 100), 0) << "beyond the longest";
  EXPECT_EQ(gittins_as_coded(DurationSample(10), 0), 0);
}

// The first has had 10 GPU-seconds at 10. The original takes it for one that never ends; in fact
// all that last longer end within the next ten.
TEST(GittinsAsCoded, DecidesBetweenQueuedJobs) {
  const auto second_start = [](const char* policy) {
    Scenario scenario;
    scenario.cluster = uniform_cluster(1, 1);
    scenario.scheduling = {
        policy,
        {{"order", "gittins"}, {"durations", "10,20"}, {"delta", "10"}, {"limits", "1000"}}};
    scenario.jobs = {job_of(0, 18), job_of(5, 8), job_of(12, 5)};
    return simulate(scenario).job(1).start;
  };
  EXPECT_EQ(second_start("dlas-gpu"), 18);
  EXPECT_EQ(second_start("dlas-gpu-as-coded"), 12);
}

}  // namespace
}  // namespace muster
