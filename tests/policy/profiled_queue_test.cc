// Lucid's profiler within the cluster: who runs there, for how long, and what the queue behind it
// makes of what is known then.
#include "policy/lucid/profiled_queue.h"

#include <gtest/gtest.h>

#include "support/simulation.h"

namespace muster {
namespace {

// Every workload is as light as can be.
class AllLight final : public PerfModel, private WorkloadProfiles {
 public:
  double rate(const JobSpec&, const RunContext&) const override { return 1; }
  PerfKnowledge knowledge() const override { return {.profiles = this}; }

 private:
  const WorkloadProfile* of(Symbol) const override { return &light_; }
  WorkloadProfile light_;
};

// The last `kept` GPUs of the last node are the profiler's, for 10 s at most.
Scenario profiled(const ClusterSpec& cluster, int kept, std::vector<JobSpec> jobs,
                  const Choice& queue = {"packing", {{"share", "always"}}}) {
  Scenario scenario;
  scenario.cluster = cluster;
  scenario.jobs = std::move(jobs);
  for (JobSpec& job : scenario.jobs) job.estimate = job.duration;
  scenario.perf_model = [] { return std::make_shared<AllLight>(); };
  scenario.policy_sets = [cluster, kept, queue] {
    const std::size_t last = cluster.nodes.size() - 1;
    const std::uint64_t all = lowest_bits(~std::uint64_t{0}, cluster.nodes[last].gpus);
    const std::uint64_t others = lowest_bits(all, cluster.nodes[last].gpus - kept);
    ProfiledQueueSettings settings;
    settings.gpus = {{NodeId{static_cast<std::uint32_t>(last)}, all & ~others}};
    settings.limit = 10;
    std::vector<PolicySet> made;
    made.push_back(make_policy_set({"sjf"}, queue));
    made.back().placement =
        make_profiled_queue(settings, cluster, std::move(made.back().placement));
    return made;
  };
  return scenario;
}

std::uint64_t place_of(const RunLog& log, int job, std::size_t launch) {
  for (const auto& [decision, gpus] : log.placements) {
    if (decision.job == JobId{static_cast<std::uint32_t>(job)} && launch-- == 0)
      return gpus[0].mask;
  }
  return 0;
}

TEST(ProfiledQueue, ShortJobsEndInTheProfilerAndLongOnesGoOnWhereTheyWere) {
  const RunLog log = simulate(profiled(uniform_cluster(1, 2), 1, {job_of(0, 6), job_of(0, 30)}));
  EXPECT_EQ(place_of(log, 0, 0), 2U);
  EXPECT_DOUBLE_EQ(log.job(0).end, 6);
  EXPECT_EQ(place_of(log, 1, 0), 2U) << "it waits for the profiler, although a GPU is free";
  EXPECT_EQ(place_of(log, 1, 1), 1U);
  EXPECT_DOUBLE_EQ(log.job(1).start, 6);
  EXPECT_NEAR(log.job(1).end, 36, 0.01) << "its work there counts";
  const auto stops = log.lines({Action::kStop});
  ASSERT_EQ(stops.size(), 1U);
  EXPECT_NE(stops[0].find("16 stop 1"), std::string::npos) << stops[0];
  EXPECT_NE(stops[0].find("profiled"), std::string::npos) << stops[0];
}

TEST(ProfiledQueue, NobodyJoinsWhoIsBeingProfiled) {
  // The second one has been profiled when the third one comes, and would go beside it.
  const RunLog log = simulate(
      profiled(uniform_cluster(1, 3), 1, {job_of(0, 60, 2), job_of(0, 60), job_of(11, 60)}));
  EXPECT_EQ(place_of(log, 0, 0), 3U) << "it is too large for the profiler";
  EXPECT_EQ(place_of(log, 1, 0), 4U);
  EXPECT_EQ(place_of(log, 2, 0), 4U);
  // Neither GPU of the queue is free, and the only job of their size is in the profiler.
  EXPECT_EQ(place_of(log, 1, 1), 1U);
  EXPECT_GE(log.job(1).end, 60 + 50);
}

TEST(ProfiledQueue, TheFewestGpusComeFirstThere) {
  const RunLog log = simulate(
      profiled(uniform_cluster(1, 6), 2, {job_of(0, 5, 2), job_of(1, 5, 2), job_of(1, 5, 1)}));
  EXPECT_DOUBLE_EQ(log.job(2).start, 5);
  EXPECT_DOUBLE_EQ(log.job(1).start, 10);
}

TEST(ProfiledQueue, WhoCouldOnlyFitWithTheProfilersGpusIsRefused) {
  const std::vector<JobSpec> jobs = {job_of(0, 5, 8), job_of(0, 5, 7), job_of(0, 5, 16),
                                     job_of(0, 5, 20)};
  // Two nodes of 8, of which the second has one GPU less: 8 and 7 fit on one of them.
  RunLog log = simulate(profiled(uniform_cluster(2, 8), 1, jobs, {"whole-nodes"}));
  EXPECT_EQ(log.job(0).status, JobState::kFinished);
  EXPECT_EQ(log.job(1).status, JobState::kFinished);
  EXPECT_EQ(log.job(2).status, JobState::kRefused);
  EXPECT_EQ(log.job(3).status, JobState::kRefused);
  // On one node of 8 only what is left of it.
  log = simulate(profiled(uniform_cluster(1, 8), 1, jobs, {"whole-nodes"}));
  EXPECT_EQ(log.job(0).status, JobState::kRefused);
  EXPECT_EQ(log.job(1).status, JobState::kFinished);
}

TEST(ProfiledQueue, EndsOnTimeWhateverTheClockShows) {
  // At these times start + limit - start is not the limit.
  for (const Seconds begin : {0.1, 1e5 + 0.3, 1.7e9 + 1.0 / 3}) {
    TestRun run(profiled(uniform_cluster(1, 2), 1, {job_of(begin, 30)}));
    EXPECT_LT(run.run(1000).turns.size(), 20U);
    EXPECT_NEAR(run.log().job(0).end, begin + 30, 0.01);
  }
}

}  // namespace
}  // namespace muster
