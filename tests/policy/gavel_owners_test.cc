// Allocations of time between owners: entities by weight, parts of a large problem, and shares for
// which it does not pay to lie.
#include <vector>

#include <gtest/gtest.h>

#include "artifacts/gavel/allocators.h"
#include "base/random.h"
#include "policy/gavel/rows.h"
#include "policy/gavel/split.h"
#include "policy/gavel_problem.h"
#include "run/config/plugin_tables.h"

namespace muster {
namespace {

TEST(GavelAllocators, StrategyProofGivesUpTheDiscounts) {
  AllocationProblem problem = problem_of({1, 1, 1}, {{2, 1, 0.5}, {3, 2, 1}, {4, 3, 2}});
  const Allocation allocation = ask(*make_gavel_strategy_proof({}), problem);
  // The largest product of throughputs with everybody there, and without each: a plain search.
  const double expected[] = {0.548699, 0.617295, 0.925905};
  for (std::size_t j = 0; j < 3; ++j) {
    double sum = 0;
    for (std::size_t w = 0; w < 3; ++w) sum += allocation.alone[3 * j + w];
    // Everybody runs all the time before the discount: there are as many GPUs as jobs.
    EXPECT_NEAR(sum, expected[j], 1e-5) << "job " << j;
  }
  // Two jobs, where Gavel's solver fails, and one.
  const Allocation two = ask(*make_gavel_strategy_proof({}), standard({1, 1, 1}));
  EXPECT_GT(throughput(standard({1, 1, 1}), two, 0), 0.1);
  AllocationProblem one = problem_of({1, 1, 1}, {{2, 1, 0.5}});
  EXPECT_NEAR(throughput(one, ask(*make_gavel_strategy_proof({}), one), 0), 2, 1e-5);
}

// Three jobs on one GPU of each type, one of which tells other rates than it has: whatever it
// tells, it gets no more steps of its own than by the truth.
TEST(GavelAllocators, StrategyProofMeansThatLiesDoNotPay) {
  const std::vector<Three> truth = {{2, 1, 0.5}, {3, 2, 1}, {4, 3, 2}};
  const AllocationProblem honest = problem_of({1, 1, 1}, truth);
  const Allocation fair = ask(*make_gavel_strategy_proof({}), honest);
  Random random(42, "lies");
  int cheaper = 0;
  for (int i = 0; i < 200; ++i) {
    const std::size_t liar = static_cast<std::size_t>(i) % 3;
    std::vector<Three> told = truth;
    told[liar] = {random.uniform(0.1, 5), random.uniform(0.1, 5), random.uniform(0.1, 5)};
    const Allocation given = ask(*make_gavel_strategy_proof({}), problem_of({1, 1, 1}, told));
    // What it really makes of its time.
    const double lied = throughput(honest, given, liar);
    EXPECT_LE(lied, throughput(honest, fair, liar) * (1 + 1e-6)) << "lie " << i;
    cheaper += lied < throughput(honest, fair, liar) * 0.99 ? 1 : 0;
  }
  EXPECT_GT(cheaper, 100) << "most lies cost something";
}

// Equal jobs pay the same as if they had not been merged, and merging changes nothing.
TEST(GavelAllocators, StrategyProofWithEqualJobs) {
  AllocationProblem equal = problem_of({1, 1, 1}, {{2, 1, 0.5}, {2, 1, 0.5}, {3, 2, 1}, {3, 2, 1}});
  AllocationProblem apart = equal;
  apart.rates[0] *= 1 + 1e-12;
  apart.rates[6] *= 1 + 1e-12;
  const Allocation merged = ask(*make_gavel_strategy_proof({}), equal);
  const Allocation single = ask(*make_gavel_strategy_proof({}), apart);
  for (std::size_t j = 0; j < 4; ++j) {
    EXPECT_NEAR(throughput(equal, merged, j), throughput(apart, single, j), 1e-5) << "job " << j;
  }
}

// Entities: weights are between owners, whatever the number of their jobs.
TEST(GavelAllocators, EntitiesShareByWeight) {
  AllocationProblem problem = problem_of({1, 0, 0}, {{1, 0, 0}, {1, 0, 0}, {1, 0, 0}});
  problem.jobs[1].owner = 1;
  problem.jobs[2].owner = 1;
  WaterOptions water;
  water.entities = {{1, false}, {3, false}};
  Allocation allocation = ask(*make_gavel_water_filling({}, water), problem);
  EXPECT_NEAR(throughput(problem, allocation, 0), 0.25, 1e-5);
  EXPECT_NEAR(throughput(problem, allocation, 1), 0.375, 1e-5);
  EXPECT_NEAR(throughput(problem, allocation, 2), 0.375, 1e-5);
  // First come, first served inside: the older of the two takes what the entity has.
  water.entities[1].fifo = true;
  allocation = ask(*make_gavel_water_filling({}, water), problem);
  EXPECT_NEAR(throughput(problem, allocation, 1), 0.75, 1e-5);
  EXPECT_NEAR(throughput(problem, allocation, 2), 0, 1e-5);
  const auto wrong = make_from("scheduling policy", plugin_tables().scheduling,
                               "gavel-max-min-fairness-water-filling", {{"entities", "1:x"}});
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("'entities' is '1:x'"), std::string::npos)
      << wrong.error().message;
}

TEST(GavelAllocators, PartsShareWhatThereIs) {
  AllocationProblem problem =
      problem_of({3, 2, 5}, {{2, 1, 0.5}, {3, 2, 1}, {2, 1, 0.5}, {3, 2, 1}});
  const auto parts = split_problem(problem, 2);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].problem.capacity, (std::vector<int>{3, 1, 2}));
  EXPECT_EQ(parts[1].problem.capacity, (std::vector<int>{2, 1, 1}));
  EXPECT_EQ(parts[1].jobs, (std::vector<std::size_t>{1, 3}));
  const auto policy = make_gavel_split(make_gavel_max_min({}), 2);
  const Allocation allocation = ask(*policy, problem);
  for (std::size_t j = 0; j < 4; ++j) EXPECT_GT(throughput(problem, allocation, j), 1.5);
}

}  // namespace
}  // namespace muster
