// What Tiresias' simulator does beyond what its policies are meant to.
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace muster
