// Allocations asked with bad numbers: each has a defined answer, whatever the policy. Whole runs
// with bad input are in tests/run/gavel_bad_input_test.cc.
#include <cmath>

#include <gtest/gtest.h>

#include "artifacts/gavel/allocators.h"
#include "policy/gavel/rows.h"
#include "policy/gavel_problem.h"
#include "run/config/plugin_tables.h"

namespace muster {
namespace {

Result<Params> default_params(std::string_view name) {
  const auto row = find_row("policy", plugin_tables().scheduling, name);
  if (!row) return row.error();
  return Params::make(name, (*row)->params, {});
}

std::unique_ptr<Allocator> make(const AllocatorInfo& info) {
  const auto params = default_params(info.name);
  return info.make(*params, program_options(info, *params));
}

TEST(GavelAllocatorsBadInput, OneJobAndJobsThatCannotRun) {
  for (const AllocatorInfo& info : allocator_table()) {
    AllocationProblem problem = problem_of({1, 1, 1}, {{2, 1, 0.5}, {0, 0, 0}});
    problem.jobs[0].steps_left = 100;
    problem.jobs[1].steps_left = 100;
    const auto policy = make(info);
    const Allocation allocation = ask(*policy, problem);
    EXPECT_GT(throughput(problem, allocation, 0), 0) << info.name;
    EXPECT_EQ(throughput(problem, allocation, 1), 0) << info.name;
    for (const double part : allocation.alone) EXPECT_TRUE(part >= 0 && part <= 1) << info.name;
  }
}

// Negative rates, numbers that are none, a type that has no GPUs (any more), nobody who can run.
TEST(GavelAllocatorsBadInput, RatesThatAreNone) {
  for (const AllocatorInfo& info : allocator_table()) {
    if (info.name == "gavel-gandiva" || info.name == "gavel-allox") continue;
    AllocationProblem problem = problem_of({1, 0, 2}, {{2, 1, -0.5}, {std::nan(""), 3, 1}});
    for (AllocationJob& job : problem.jobs) job.steps_left = 100;
    const bool fifo = info.name.starts_with("gavel-fifo");
    const bool solved = !fifo && info.name != "gavel-isolated" && info.name != "gavel-proportional";
    if (!solved) continue;
    const Allocation allocation = ask(*make(info), problem);
    EXPECT_GT(allocation.alone[2], 0) << info.name << ": job 0 on v100";
    EXPECT_GT(allocation.alone[3], 0) << info.name << ": job 1 on k80";
    for (const std::size_t nowhere : {0U, 1U, 4U, 5U}) {
      EXPECT_EQ(allocation.alone[nowhere], 0) << info.name << " at " << nowhere;
    }
    AllocationProblem hopeless = problem_of({0, 0, 0}, kStandard);
    for (AllocationJob& job : hopeless.jobs) job.steps_left = 100;
    const Allocation nothing = ask(*make(info), hopeless);
    for (const double part : nothing.alone) EXPECT_EQ(part, 0) << info.name;
  }
}

// As Gavel states them, too: one job, jobs that cannot run, no GPUs at all, pairs.
TEST(GavelAllocatorsBadInput, PublishedProgramsBearAnyInput) {
  for (const Sight sight : {Sight::kAgnostic, Sight::kRates, Sight::kPairs}) {
    const ProgramOptions coded = as_coded({sight});
    for (const auto& policy :
         {make_gavel_max_min(coded), make_water_filling_as_coded(coded, {}, false),
          make_gavel_finish_time(coded), make_makespan_as_coded(coded),
          make_gavel_sum(coded, {})}) {
      AllocationProblem some = problem_of({1, 0, 1}, {{2, 1, 0.5}, {0, 0, 0}});
      AllocationProblem one = problem_of({1, 1, 1}, {{2, 1, 0.5}});
      AllocationProblem hopeless = problem_of({0, 0, 0}, kStandard);
      AllocationProblem pairs = packed({1, 1, 1});
      for (AllocationProblem* problem : {&some, &one, &hopeless, &pairs}) {
        for (AllocationJob& job : problem->jobs) job.steps_left = 100;
        if (problem == &pairs && sight != Sight::kPairs) continue;
        Allocation allocation;
        allocation.reset(*problem);
        policy->allocate(*problem, allocation);
        for (const double part : allocation.alone) EXPECT_TRUE(part >= 0 && part <= 1);
        if (problem == &hopeless) continue;
        EXPECT_GT(throughput(*problem, allocation, 0), 0);
      }
    }
  }
}

// A pair whose member cannot run alone is not formed, and takes nothing from the others.
TEST(GavelAllocatorsBadInput, PairsWithoutSingles) {
  AllocationProblem problem = problem_of({1, 1, 1}, {{2, 1, 0.5}, {0, 0, 0}});
  add_pair(problem, {2, 1, 0.5}, {3, 2, 1});
  for (AllocationJob& job : problem.jobs) job.steps_left = 100;
  for (const auto& policy :
       {make_gavel_max_min({Sight::kPairs}), make_gavel_water_filling({Sight::kPairs}),
        make_gavel_finish_time({Sight::kPairs}), make_gavel_makespan({Sight::kPairs}),
        make_gavel_sum({Sight::kPairs}, {})}) {
    const Allocation allocation = ask(*policy, problem);
    EXPECT_EQ(allocation.paired, std::vector<double>(3, 0.0));
    EXPECT_NEAR(throughput(problem, allocation, 0), 2, 0.2);
  }
}

LinearSolution fail(const LinearProgram& /*program*/, double /*tolerance*/) { return {}; }

// Where no solver has an answer, everybody owns an equal part.
TEST(GavelAllocatorsBadInput, SolversThatFail) {
  AllocationProblem problem = packed({1, 1, 1});
  for (AllocationJob& job : problem.jobs) job.steps_left = 100;
  const ProgramOptions broken = {Sight::kPairs, fail};
  for (const auto& policy :
       {make_gavel_max_min(broken), make_gavel_finish_time(broken), make_gavel_makespan(broken),
        make_gavel_sum(broken, {}),
        make_water_filling_as_coded(as_coded({Sight::kRates, fail}), {}, false),
        make_gavel_strategy_proof({Sight::kRates, fail})}) {
    const Allocation allocation = ask(*policy, problem);
    expect_row(allocation, 0, {1.0 / 3, 1.0 / 3, 1.0 / 3});
    expect_row(allocation, 1, {1.0 / 3, 1.0 / 3, 1.0 / 3});
  }
  // Water filling finds its levels at vertices, and keeps the last one if there is no centre.
  const Allocation filled = ask(*make_gavel_water_filling(broken), problem);
  EXPECT_NEAR(throughput(problem, filled, 0), 2, 1e-4);
  EXPECT_NEAR(throughput(problem, filled, 1), 3, 1e-4);
}

}  // namespace
}  // namespace muster
