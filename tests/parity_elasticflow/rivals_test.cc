// Chronus against recorded runs of ElasticFlow's artifact (with an open solver there), and Pollux
// on a day of figure 8(a): how many jobs meet their deadline.
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "support/described_run.h"
#include "support/paths.h"

namespace muster {
namespace {

int most_used(const RunLog& log) {
  int most = 0;
  for (const TurnStats& turn : log.turns) most = std::max(most, turn.used_gpus);
  return most;
}

RunConfig chronus(const std::string& choice, const std::string& cluster, long long limit) {
  RunConfig config;
  config.workload.trace = shared_path("data/elasticflow/elasticflow-traces.tar.gz/195job.csv");
  config.workload.rebase = "no";
  config.workload.limit = limit;
  config.cluster.shape = cluster;
  config.pacing = {"slots", {{"length", "240"}}};
  config.scheduling = {"chronus-as-coded", {{"choice", choice}}};
  config.placement = {"local-search", {}};
  return config;
}

// The recorded run had another solver, which chooses differently among equally good plans: so many
// met deadlines may differ.
constexpr int kSlack = 3;

void compare(const std::string& name, const RunLog& ours) {
  std::map<std::string, const JobRecord*> by_name;
  int met = 0;
  for (const JobRecord& job : ours.jobs) {
    by_name[job.name] = &job;
    met += job.met_deadline() ? 1 : 0;
  }
  std::ifstream file(shared_dir() / "golden/elasticflow/outcomes" / (name + ".csv"));
  std::string line;
  std::getline(file, line);
  int wanted = 0;
  int jobs = 0;
  int equal = 0;
  while (std::getline(file, line)) {
    const auto cells = split(trim(line), ',');
    const bool theirs = cells[1] == "met";
    wanted += theirs ? 1 : 0;
    ++jobs;
    const auto found = by_name.find(std::string(cells[0]));
    ASSERT_NE(found, by_name.end()) << cells[0];
    if (found->second->met_deadline() == theirs) {
      ++equal;
    } else {
      fmt::print("{}: job {}: {}, golden {}\n", name, cells[0], theirs ? "late" : "met", cells[1]);
    }
  }
  fmt::print("{}: {} met, golden {}; {} of {} outcomes equal\n", name, met, wanted, equal, jobs);
  EXPECT_EQ(static_cast<std::size_t>(jobs), ours.jobs.size());
  EXPECT_NEAR(met, wanted, kSlack) << name;
}

TEST(ChronusParity, MeetsAsManyDeadlinesAsTheRecordedRuns) {
  MUSTER_NEEDS_SHARED("golden/elasticflow/outcomes/t195_n16g8__chronus.csv");
  for (const char* choice : {"exact", "greedy"}) {
    const RunLog small = run_described(chronus(choice, "4x8", 25));
    compare("t25_n4g8__chronus", small);
    EXPECT_LE(most_used(small), 32);
    const RunLog large = run_described(chronus(choice, "16x8", 0));
    compare("t195_n16g8__chronus", large);
    EXPECT_LE(most_used(large), 128);
  }
}

// One search is a hundredth of the published one here, to be quick: that all jobs come to an end,
// that batch sizes and GPUs adapt, and the same result twice.
TEST(PolluxParity, TrainsTheFirstJobsOfFigure8a) {
  MUSTER_NEEDS_SHARED("data/pollux/bert/placements.csv");
  MUSTER_NEEDS_SHARED("data/elasticflow/elasticVpollux_e.csv");
  RunConfig config;
  config.workload.trace = shared_path("data/elasticflow/elasticVpollux_e.csv");
  config.workload.rebase = "no";
  config.workload.limit = 30;
  config.cluster.shape = "4x4";
  config.pacing = {"slots", {{"length", "60"}}};
  config.scheduling = {"pollux-as-coded", {{"population", "20"}, {"generations", "5"}}};
  config.placement = {"as-planned", {}};
  config.perf = {{"goodput", {{"folder", shared_path("data/pollux")}}}};
  const RunLog first = run_described(config);
  const RunLog second = run_described(config);
  ASSERT_EQ(first.jobs.size(), 30U);
  int resizes = 0;
  for (std::size_t i = 0; i < first.jobs.size(); ++i) {
    EXPECT_EQ(first.jobs[i].status, JobState::kFinished);
    EXPECT_EQ(first.jobs[i].end, second.jobs[i].end);
    resizes += first.jobs[i].resizes;
  }
  EXPECT_GT(resizes, 10);
  EXPECT_LE(most_used(first), 16);
}

}  // namespace
}  // namespace muster
