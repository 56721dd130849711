// Classes by GPU count: when a job leaves the first queue, and how GPUs are divided.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/simulation.h"

namespace muster {
namespace {

// Two jobs of so many GPUs, of which one runs at a time. The second comes 10 s later and starts
// when the first leaves the first queue.
Seconds second_start(int gpus, Seconds arrival, const char* limit) {
  Scenario scenario;
  scenario.cluster = uniform_cluster(1, gpus);
  scenario.scheduling = {"multi-dlas-gpu", {{"limit", limit}, {"every", "100000"}}};
  scenario.jobs = {job_of(arrival, 500, gpus), job_of(arrival + 10, 20, gpus)};
  const RunLog log = simulate(scenario);
  // Two arrivals, the demotion, two ends; rounding may add a turn to notice that there is more.
  EXPECT_LE(log.turns.size(), 8U) << gpus << " GPUs from " << arrival;
  return log.job(1).start - arrival;
}

TEST(MultiDlas, DemotesAtTheExactTime) {
  EXPECT_EQ(second_start(1, 0, "100"), 100);
  EXPECT_EQ(second_start(2, 0, "100"), 50);
  EXPECT_EQ(second_start(4, 0, "250"), 62.5);
}

// Thirds and sevenths of the limit, on clocks that count finely and coarsely.
TEST(MultiDlas, DemotesOnceWhereTimesAreRounded) {
  for (const int gpus : {3, 6, 7, 9, 11, 49}) {
    for (const Seconds arrival : {0.0, 0.1, 1e6 + 0.3, 1e9 + 0.7}) {
      EXPECT_NEAR(second_start(gpus, arrival, "1000"), 1000.0 / gpus, 1e-6)
          << gpus << " GPUs from " << arrival;
    }
  }
}

TEST(MultiDlas, PutsAJobIntoTheSecondQueueAtOnceIfTheFirstAllowsNothing) {
  EXPECT_EQ(second_start(2, 0, "0"), 500);
}

// GPUs of each class after all jobs came at once: what its running jobs hold.
std::string held(const Choice& scheduling, int gpus, const std::vector<std::pair<int, int>>& jobs) {
  Scenario scenario;
  scenario.cluster = uniform_cluster(1, gpus);
  scenario.scheduling = scheduling;
  for (const auto& [count, each] : jobs) {
    for (int i = 0; i < count; ++i) scenario.jobs.push_back(job_of(0, 50, each));
  }
  const RunLog log = simulate(scenario);
  std::string text;
  int id = 0;
  for (const auto& [count, each] : jobs) {
    int used = 0;
    for (int i = 0; i < count; ++i) used += log.job(id++).start == 0 ? each : 0;
    text += fmt::format("{}x{} ", used / each, each);
  }
  return text;
}

// Twelve GPUs of demand are 2/3, six are 1/3: of six GPUs four and two. Rounded to hundredths the
// part of the second is a hair less than a job.
TEST(MultiDlas, DividesByDemandWithoutRounding) {
  const Choice scheduling = {"multi-dlas-gpu", {{"limit", "1000"}, {"every", "1000"}}};
  EXPECT_EQ(held(scheduling, 6, {{12, 1}, {3, 2}}), "4x1 1x2 ");
  EXPECT_EQ(held(scheduling, 12, {{24, 1}, {12, 2}, {6, 4}}), "4x1 2x2 1x4 ");
  // 12/94 of 47 GPUs are three jobs, though 12.0 / 94 * 47 / 2 is a hair less.
  EXPECT_EQ(held(scheduling, 47, {{82, 1}, {6, 2}}), "41x1 3x2 ");
}

}  // namespace
}  // namespace muster
