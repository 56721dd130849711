// Orders by Gittins index: who goes first, and when that changes.
#include <gtest/gtest.h>

#include "support/simulation.h"

namespace muster {
namespace {

// Both policies that go by the index, with queues that hold all jobs.
std::vector<Choice> by_index(const char* durations, const char* delta) {
  return {{"gittins", {{"durations", durations}, {"delta", delta}}},
          {"dlas-gpu",
           {{"order", "gittins"}, {"durations", durations}, {"delta", delta}, {"limits", "1e9"}}}};
}

Scenario by_index_on(int gpus, const Choice& scheduling, std::vector<JobSpec> jobs) {
  Scenario scenario;
  scenario.cluster = uniform_cluster(1, gpus);
  scenario.scheduling = scheduling;
  scenario.jobs = std::move(jobs);
  return scenario;
}

// A job that has had 10 s ends within the next ten, as did all that lasted longer; of new ones only
// every other does.
TEST(GittinsOrder, LetsGoOnWhoIsSureToEndSoon) {
  for (const Choice& choice : by_index("10,20", "10")) {
    const RunLog log = simulate(by_index_on(1, choice, {job_of(0, 18), job_of(5, 5)}));
    EXPECT_EQ(log.job(1).start, 18) << choice;
  }
}

// At 2.5 s the first is unlikely to end soon: not at the next whole second.
TEST(GittinsOrder, ChangesAtTheExactTime) {
  for (const Choice& choice : by_index("2.5,100", "10")) {
    const RunLog log = simulate(by_index_on(1, choice, {job_of(0, 18), job_of(1, 5)}));
    EXPECT_EQ(log.job(1).start, 2.5) << choice;
  }
}

// Thirds and sevenths, on clocks that count finely and coarsely.
TEST(GittinsOrder, ChangesOnceWhereTimesAreRounded) {
  for (const int gpus : {3, 6, 7, 11}) {
    for (const Seconds at : {0.0, 0.1, 1e6 + 0.3, 1e9 + 0.7}) {
      for (const Choice& choice : by_index("100,10000", "100")) {
        const RunLog log =
            simulate(by_index_on(gpus, choice, {job_of(at, 500, gpus), job_of(at, 5, gpus)}));
        EXPECT_NEAR(log.job(1).start - at, 100.0 / gpus, 1e-6) << choice << gpus << " from " << at;
        EXPECT_LE(log.turns.size(), 6U) << choice << gpus << " from " << at;
      }
    }
  }
}

// After 15 s the first is unlikely to end soon, and lets a new job go first; after 25 s it must end
// within five, and lets no other go first. No turn came between.
TEST(GittinsOrder, GoesByTheIndexOfNowAndNotOfTheLastTurn) {
  for (const Choice& choice : by_index("10,30", "10")) {
    const RunLog log =
        simulate(by_index_on(1, choice, {job_of(0, 28), job_of(15, 2), job_of(27, 5)}));
    EXPECT_EQ(log.job(1).start, 15) << choice;
    EXPECT_EQ(log.job(2).start, 30) << choice;
  }
}

}  // namespace
}  // namespace muster
