// The genetic search: legal tables, good ones, the same ones every time.
#include "solve/allocation_search.h"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

namespace muster {
namespace {

// Speed grows with the root of the GPUs, and spreading costs a part of it.
class Roots final : public SpeedupSource {
 public:
  explicit Roots(std::vector<double> powers) : powers_(std::move(powers)) {}
  double speedup(std::size_t job, int nodes, int gpus) override {
    return std::pow(gpus, powers_[job]) * (nodes > 1 ? 0.8 : 1.0);
  }

 private:
  std::vector<double> powers_;
};

std::vector<SearchJob> some_jobs(std::size_t count, std::size_t nodes, int most) {
  std::vector<SearchJob> jobs(count);
  for (std::size_t j = 0; j < count; ++j) {
    jobs[j].key = 100 + j;
    jobs[j].most = most;
    jobs[j].held.assign(nodes, 0);
  }
  return jobs;
}

int sum(const std::vector<int>& row) { return std::accumulate(row.begin(), row.end(), 0); }

TEST(AllocationSearch, KeepsAllLimits) {
  const std::vector<int> nodes = {4, 4, 2, 8, 4, 0, 4, 4, 4, 64};
  auto jobs = some_jobs(12, nodes.size(), 7);
  jobs[3].least = 5;
  jobs[4].room.assign(nodes.size(), 0);
  jobs[4].room[2] = 1;
  Roots source(std::vector<double>(12, 0.7));
  AllocationSearch search({}, 1);
  for (int round = 0; round < 3; ++round) {
    const auto table = search.run(nodes, jobs, source);
    std::vector<int> spread(nodes.size(), 0);
    std::vector<int> used(nodes.size(), 0);
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      EXPECT_LE(sum(table[j]), jobs[j].most);
      EXPECT_TRUE(sum(table[j]) == 0 || sum(table[j]) >= jobs[j].least);
      int on = 0;
      for (const int gpus : table[j]) on += gpus > 0 ? 1 : 0;
      for (std::size_t n = 0; n < nodes.size(); ++n) {
        used[n] += table[j][n];
        if (on > 1 && table[j][n] > 0) ++spread[n];
        if (!jobs[j].room.empty()) {
          EXPECT_LE(table[j][n], jobs[j].room[n]);
        }
      }
      jobs[j].held = table[j];
    }
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      EXPECT_LE(used[n], nodes[n]);
      EXPECT_LE(spread[n], 1) << "two jobs that span nodes share node " << n;
    }
  }
}

TEST(AllocationSearch, SharesFairlyAndLeavesNothingIdle) {
  const std::vector<int> nodes = {4, 4};
  const auto jobs = some_jobs(4, nodes.size(), 8);
  Roots source({0.7, 0.7, 0.7, 0.7});
  AllocationSearch search({}, 1);
  for (const auto& row : search.run(nodes, jobs, source)) EXPECT_EQ(sum(row), 2);
  // Everybody at root(2) of a fair part, scaled to a node's worth.
  EXPECT_NEAR(search.value(), std::pow(2, 0.7) * 2 / 8 + 1e-3, 1e-9);
}

TEST(AllocationSearch, FindsTheBestOfAllTables) {
  // Two jobs on two nodes of three: every pair of rows can be tried.
  const std::vector<int> nodes = {3, 3};
  auto jobs = some_jobs(2, nodes.size(), 6);
  jobs[0].held = {1, 0};
  jobs[0].restart_factor = 0.4;
  Roots source({0.9, 0.2});
  double best = 0;
  for (int code = 0; code < 256; ++code) {
    const int a0 = code & 3;
    const int a1 = (code >> 2) & 3;
    const int b0 = (code >> 4) & 3;
    const int b1 = (code >> 6) & 3;
    if (a0 + b0 > 3 || a1 + b1 > 3) continue;
    if (a0 > 0 && a1 > 0 && b0 > 0 && b1 > 0) continue;
    const auto value = [&](std::size_t job, int x, int y) {
      const double speed = x + y == 0 ? 0 : source.speedup(job, (x > 0) + (y > 0), x + y);
      const bool same = x == jobs[job].held[0] && y == jobs[job].held[1];
      return 1 / (speed * 2 / 6 * (same ? 1 : jobs[job].restart_factor) + 1e-3);
    };
    best = std::max(best, 2 / (value(0, a0, a1) + value(1, b0, b1)));
  }
  AllocationSearch search({}, 7);
  search.run(nodes, jobs, source);
  EXPECT_NEAR(search.value(), best, 1e-12);
}

// No table is better than the bound; searches that stop early lose little on average.
TEST(AllocationSearch, TheBoundHoldsAndPatienceLosesLittle) {
  Random random(3, "bounds");
  constexpr int kRounds = 40;
  double kept = 0;  // mean part of the best value that was found all the same
  for (int round = 0; round < kRounds; ++round) {
    const std::vector<int> nodes(static_cast<std::size_t>(random.integer(1, 6)), 4);
    const auto count = static_cast<std::size_t>(random.integer(1, 20));
    auto jobs = some_jobs(count, nodes.size(), 16);
    std::vector<double> powers;
    for (SearchJob& job : jobs) {
      powers.push_back(random.uniform(0.1, 1));
      job.least = static_cast<int>(random.integer(0, 3));
      job.restart_factor = random.uniform(0.2, 1);
      if (random.chance(0.3)) job.held[0] = 1;
    }
    Roots source(powers);
    SearchOptions options;
    options.first_fit = true;
    options.fairness = std::vector<double>{-1, 0, 0.5, 1, -3}[random.below(5)];
    AllocationSearch whole(options, 1);
    whole.run(nodes, jobs, source);
    options.patience = 30;
    AllocationSearch hasty(options, 1);
    hasty.run(nodes, jobs, source);
    EXPECT_GE(hasty.value() * (1 + hasty.gap()), whole.value() * (1 - 1e-12));
    kept += hasty.value() / whole.value() / kRounds;
  }
  EXPECT_GT(kept, 0.95);
}

// With one node there is nothing but the knapsack, and one job has no rest: the bound is the value.
TEST(AllocationSearch, TheBoundIsTightForOneJob) {
  const std::vector<int> nodes = {8};
  const auto jobs = some_jobs(1, 1, 6);
  Roots source({0.5});
  SearchOptions options;
  options.patience = 10;
  AllocationSearch search(options, 1);
  search.run(nodes, jobs, source);
  EXPECT_NEAR(search.gap(), 0, 1e-3);
  EXPECT_NEAR(search.value(), std::sqrt(6) / 8 + 1e-3, 1e-3);
}

TEST(AllocationSearch, LeavesAJobAloneThatWouldLoseByARestart) {
  const std::vector<int> nodes = {4, 4};
  auto jobs = some_jobs(1, nodes.size(), 8);
  jobs[0].held = {2, 0};
  jobs[0].restart_factor = 0.1;
  Roots source({0.9});
  AllocationSearch search({}, 1);
  EXPECT_EQ(search.run(nodes, jobs, source)[0], jobs[0].held);
  jobs[0].restart_factor = 0.95;
  EXPECT_EQ(sum(search.run(nodes, jobs, source)[0]), 8);
}

TEST(AllocationSearch, CountsTheSlowMoreTheLowerThePower) {
  // One job gains much from GPUs, the other little.
  const std::vector<int> nodes = {8};
  const auto jobs = some_jobs(2, nodes.size(), 8);
  Roots source({1.0, 0.1});
  SearchOptions adds;
  adds.fairness = 1;
  SearchOptions fair;
  fair.fairness = -5;
  const int to_fast = sum(AllocationSearch(adds, 1).run(nodes, jobs, source)[0]);
  const int when_fair = sum(AllocationSearch(fair, 1).run(nodes, jobs, source)[0]);
  EXPECT_EQ(to_fast, 7);
  EXPECT_LT(when_fair, to_fast);
}

TEST(AllocationSearch, AnswersTheSameForTheSameSeed) {
  const std::vector<int> nodes(16, 4);
  const auto jobs = some_jobs(20, nodes.size(), 16);
  Roots source(std::vector<double>(20, 0.8));
  SearchOptions options;
  options.generations = 20;
  AllocationSearch one(options, 5);
  AllocationSearch other(options, 5);
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(one.run(nodes, jobs, source), other.run(nodes, jobs, source));
  }
  EXPECT_TRUE(one.run({}, jobs, source).front().empty());
  EXPECT_TRUE(one.run(nodes, {}, source).empty());
}

}  // namespace
}  // namespace muster
