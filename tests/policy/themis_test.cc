// Finish-time fairness by a program, from the outside: units do not matter.
#include <gtest/gtest.h>

#include "support/simulation.h"

namespace muster {
namespace {

// A few jobs on `unit` times 4 GPUs, of which every second one makes steps `longer` times as long.
Scenario jobs_on(std::string policy, double longer, int unit) {
  Scenario scenario;
  scenario.cluster = uniform_cluster(1, 4 * unit);
  const int sizes[] = {1, 2, 3, 1, 4, 2, 1, 3, 2, 1, 1, 2, 3, 1, 2, 1};
  for (int i = 0; i < 16; ++i) {
    JobSpec job = job_of(40.0 * i, 300 + 170.0 * (i * 5 % 16), sizes[i] * unit);
    const double scale = i % 2 == 0 ? 1 : longer;
    job.stage_ms = {20 * scale, 30 * scale, 40 * scale, 10 * scale};
    job.step_ms = 100 * scale;
    job.iterations = job.duration * 1000 / job.step_ms;
    scenario.jobs.push_back(job);
  }
  scenario.scheduling = {std::move(policy)};
  scenario.pacing = {"rounds", {{"length", "60"}}};
  scenario.perf = {{"interleave"}};
  return scenario;
}

// When every job starts and ends.
std::vector<std::string> times(const Scenario& scenario) {
  std::vector<std::string> lines;
  for (const JobRecord& job : simulate(scenario).jobs) {
    lines.push_back(std::to_string(index(job.id)) + " " + std::to_string(job.start) + " " +
                    std::to_string(job.end));
  }
  return lines;
}

TEST(Themis, CountsSecondsWhateverAStepTakes) {
  EXPECT_EQ(times(jobs_on("themis", 1, 1)), times(jobs_on("themis", 64, 1)));
  EXPECT_NE(times(jobs_on("themis-in-steps-as-coded", 1, 1)),
            times(jobs_on("themis-in-steps-as-coded", 64, 1)));
}

// The same jobs with twice the GPUs each, on a cluster of twice the size.
TEST(Themis, CountsEqualPartsThatAreNotWhole) {
  EXPECT_EQ(times(jobs_on("themis", 1, 1)), times(jobs_on("themis", 1, 2)));
  EXPECT_NE(times(jobs_on("themis-in-steps-as-coded", 1, 1)),
            times(jobs_on("themis-in-steps-as-coded", 1, 2)));
}

}  // namespace
}  // namespace muster
