// Lucid against Lucid: start and end second of every one of 23,859 jobs of the Venus cluster, for
// each policy whose recorded schedule exists, put together from the preset as a user would.
#include <gtest/gtest.h>

#include "run/assembly/jobs.h"
#include "run/assembly/profiling.h"
#include "run/assembly/simulation.h"
#include "run/experiment/experiment.h"
#include "support/paths.h"

namespace muster {
namespace {

void expect_reproduced(const std::string& name, std::size_t jobs_per_run) {
  const auto experiment = load_experiment("lucid", name);
  ASSERT_TRUE(experiment) << experiment.error().message;
  const auto result = run_experiment(*experiment, {});
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->runs.size(), experiment->runs.size());
  for (const RunCheck& run : result->runs) {
    EXPECT_EQ(run.missing, "") << run.run;
    EXPECT_EQ(run.jobs.jobs, jobs_per_run) << run.run;
    EXPECT_EQ(run.jobs.unequal, 0U) << run.run;
    for (const std::string& example : run.jobs.examples)
      ADD_FAILURE() << run.run << ": " << example;
    for (const FigureCheck& figure : run.figures) {
      EXPECT_TRUE(figure.within) << run.run << ", " << figure.expected.key << ": ours "
                                 << figure.ours << ", off by " << figure.difference;
    }
  }
}

TEST(LucidParity, EveryJobOfTable4) {
  MUSTER_NEEDS_SHARED("golden/lucid/venus_sept_golden_schedules.csv.gz");
  expect_reproduced("table4", 23859);
}

class LucidFigures : public testing::TestWithParam<const char*> {};

TEST_P(LucidFigures, AreReproducedSlow) {
  MUSTER_NEEDS_SHARED("golden/lucid/venus_sept_golden_schedules.csv.gz");
  expect_reproduced(GetParam(), 0);
}

INSTANTIATE_TEST_SUITE_P(Venus, LucidFigures,
                         testing::Values("table5", "figure8", "figure9", "sensitivity", "figure7",
                                         "figure13"),
                         [](const auto& test) { return std::string(test.param); });

TEST(LucidParity, Profiling) {
  MUSTER_NEEDS_SHARED("golden/lucid/venus_sept_golden_schedules.csv.gz");
  const auto experiment = load_experiment("lucid", "table4");
  ASSERT_TRUE(experiment) << experiment.error().message;
  const RunConfig* lucid = nullptr;
  for (const ExperimentRun& run : experiment->runs) {
    if (run.name == "Lucid") lucid = &run.config;
  }
  ASSERT_NE(lucid, nullptr);
  const auto jobs = load_jobs(lucid->workload);
  ASSERT_TRUE(jobs) << jobs.error().message;
  const auto simulation = Simulation::make(*lucid, *jobs);
  ASSERT_TRUE(simulation) << simulation.error().message;
  const auto profiling = (*simulation)->profile();
  ASSERT_TRUE(profiling) << profiling.error().message;
  int profiled = 0;
  int finished = 0;
  double queue = 0;
  for (std::size_t i = 0; i < (*jobs)->jobs.size(); ++i) {
    const ProfiledJob& job = profiling->jobs[i];
    if (job.start == kNever) continue;
    ++profiled;
    finished += job.finished ? 1 : 0;
    queue += job.start - (*jobs)->jobs[i].submit;
  }
  EXPECT_EQ(profiled, 21417);
  EXPECT_EQ(finished, 10644);
  // The published average counts jobs that are never profiled as not waiting.
  EXPECT_NEAR(queue / static_cast<double>((*jobs)->jobs.size()), 73.33, 0.01);
  ASSERT_EQ(profiling->events.size(), 56U);
  const double first[] = {13296620, 13301500, 13443010, 13468200,
                          13539300, 13543800, 13870270, 13873200};
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(profiling->events[i].time, first[i]);
}

}  // namespace
}  // namespace muster
