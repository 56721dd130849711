// The placement packing where some jobs have no estimate.
#include <gtest/gtest.h>

#include "support/beliefs.h"
#include "support/simulation.h"

namespace muster {
namespace {

// Every workload is as light as can be.
class AllAreLight final : public PerfModel, private WorkloadProfiles {
 public:
  double rate(const JobSpec&, const RunContext&) const override { return 1; }
  PerfKnowledge knowledge() const override { return {.profiles = this}; }

 private:
  const WorkloadProfile* of(Symbol) const override { return &light_; }
  WorkloadProfile light_;
};

// Whether the second job goes onto the one GPU, beside the first one; 0: no estimate.
bool joins(Seconds host, Seconds newcomer) {
  Scenario scenario;
  scenario.cluster = uniform_cluster(1, 1);
  std::vector<JobSpec> jobs = {job_of(0, 100), job_of(10, 100)};
  jobs[0].estimate = host;
  jobs[1].estimate = newcomer;
  scenario.jobs = believed_jobs(jobs, Durations::kEstimate);
  scenario.perf_model = [] { return std::make_shared<AllAreLight>(); };
  scenario.scheduling = {"lucid"};
  scenario.placement = {"packing", {{"share", "always"}}};
  return simulate(scenario).job(1).start == 10;
}

TEST(Packing, ANewcomerMayOutlastItsHostTwice) {
  EXPECT_TRUE(joins(600, 1200));
  EXPECT_FALSE(joins(600, 1201));
}

TEST(Packing, AJobWithoutEstimateIsExpectedToRunForAnHour) {
  EXPECT_FALSE(joins(600, 0)) << "nothing says that it ends before its host";
  EXPECT_TRUE(joins(1800, 0));
  EXPECT_TRUE(joins(0, 600)) << "nothing says that its host ends at once";
  EXPECT_FALSE(joins(0, 7201));
}

}  // namespace
}  // namespace muster
