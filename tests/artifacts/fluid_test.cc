// What must hold of fractions of time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "artifacts/gavel/fluid_run.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

// Two jobs on one type: of one GPU, and of two; the type has two GPUs.
AllocationProblem problem() {
  AllocationProblem problem;
  problem.types = 1;
  problem.capacity = {2};
  problem.jobs.resize(2);
  problem.jobs[0].id = JobId{0};
  problem.jobs[1].id = JobId{1};
  problem.jobs[1].gpus = 2;
  problem.rates = {1, 1};
  return problem;
}

std::string broken(std::vector<double> alone) {
  Allocation allocation;
  allocation.alone = std::move(alone);
  return broken_allocation(problem(), allocation, {}).value_or("");
}

TEST(FluidInvariants, HoldWhereTimeAndGpusSuffice) {
  EXPECT_EQ(broken({1, 0.5}), "");
  EXPECT_EQ(broken({0, 1}), "");
}

TEST(FluidInvariants, NameWhatIsBroken) {
  EXPECT_THAT(broken({1, 1}), HasSubstr("3 GPUs of type 0 are in use, of 2"));
  Allocation too_much;
  too_much.alone = {1, 1};
  EXPECT_FALSE(broken_allocation(problem(), too_much, {.overbooks = true}));
  EXPECT_THAT(broken({1.5, 0}), HasSubstr("job 0 got 1.5 of its time"));
  EXPECT_THAT(broken({0, -0.5}), HasSubstr("job 1 got -0.5"));
}

TEST(FluidInvariants, CountPairsForBothOfThem) {
  AllocationProblem pairs = problem();
  pairs.jobs[1].gpus = 1;
  pairs.pairs = {{0, 1}};
  Allocation allocation;
  allocation.alone = {0.5, 0};
  allocation.paired = {0.5};
  EXPECT_FALSE(broken_allocation(pairs, allocation, {}));
  allocation.paired = {0.75};
  EXPECT_THAT(broken_allocation(pairs, allocation, {}).value_or(""), HasSubstr("job 0 runs 1.25"));
}

}  // namespace
}  // namespace muster
