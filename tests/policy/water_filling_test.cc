// Water filling against the definition: the lexicographic max-min optimum, found by brute force
// with a program per job and level, on random problems.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "policy/gavel/program_allocators.h"
#include "policy/gavel_problem.h"
#include "solve/simplex.h"

namespace muster {
namespace {

AllocationProblem random_problem(Random& random) {
  std::vector<Three> rates;
  const auto jobs = random.integer(1, 9);
  for (std::int64_t j = 0; j < jobs; ++j) {
    const double slow = random.uniform(0.2, 2);
    rates.push_back({slow * random.uniform(2, 10), slow * random.uniform(1, 4), slow});
  }
  const auto some = [&random] { return static_cast<int>(random.integer(0, 6)); };
  AllocationProblem problem = problem_of({1 + some(), some(), some()}, rates);
  for (AllocationJob& job : problem.jobs) {
    job.gpus = 1 << random.below(3);
    job.weight = static_cast<double>(random.integer(1, 3));
  }
  return problem;
}

// What is to be large: a job's throughput as a multiple of its fair one, for its GPUs and weight.
double scale_of(const AllocationProblem& problem, std::size_t job) {
  return problem.jobs[job].gpus / proportional_rate(problem, problem.rates, job) /
         problem.jobs[job].weight;
}

// Maximises the share of job `raised`, or, where that is none, the least share of the jobs that are
// not fixed; all shares are at least `least`. Returns the maximum.
double maximum(const AllocationProblem& problem, const std::vector<double>& least,
               const std::vector<char>& fixed, std::size_t raised) {
  const std::size_t jobs = problem.jobs.size();
  LinearProgram program;
  for (const int gpus : problem.capacity) program.add_row(gpus, 0);
  for (std::size_t j = 0; j < jobs; ++j) program.add_row(1, 0);
  for (std::size_t j = 0; j < jobs; ++j) program.add_row(-least[j], 0);
  const std::size_t level_rows = program.rows();
  for (std::size_t j = 0; j < jobs; ++j) program.add_row(0, 0);
  for (std::size_t j = 0; j < jobs; ++j) {
    const double scale = scale_of(problem, j);
    for (std::size_t w = 0; w < problem.types; ++w) {
      const double share = scale * problem.rate(j, w);
      program.add_variable(j == raised ? -share : 0);
      program.add_term(w, problem.jobs[j].gpus);
      program.add_term(problem.types + j, 1);
      program.add_term(problem.types + jobs + j, -share);
      if (fixed[j] == 0) program.add_term(level_rows + j, -share);
    }
  }
  program.add_variable(raised < jobs ? 0 : -1);  // the level
  for (std::size_t j = 0; j < jobs; ++j) {
    if (fixed[j] == 0) program.add_term(level_rows + j, 1);
  }
  const LinearSolution solution = solve_simplex(program);
  EXPECT_EQ(solution.status, SolveStatus::kOptimal);
  return -solution.cost;
}

// Progressive filling by definition: raise all together; whoever cannot rise alone is fixed there.
std::vector<double> lexicographic_optimum(const AllocationProblem& problem) {
  constexpr double kSlack = 1e-9;
  const std::size_t jobs = problem.jobs.size();
  std::vector<double> level(jobs, 0);
  std::vector<char> fixed(jobs, 0);
  for (std::size_t left = jobs; left > 0;) {
    const double reached = maximum(problem, level, fixed, jobs);
    for (std::size_t j = 0; j < jobs; ++j) {
      if (fixed[j] == 0) level[j] = reached * (1 - kSlack);
    }
    std::vector<char> now = fixed;
    for (std::size_t j = 0; j < jobs; ++j) {
      if (fixed[j] != 0 || maximum(problem, level, fixed, j) > reached + 1e-6) continue;
      now[j] = 1;
      --left;
    }
    if (now == fixed) {
      ADD_FAILURE() << "nobody is a bottleneck";
      break;
    }
    fixed = now;
  }
  return level;
}

std::vector<double> shares(const AllocationProblem& problem, Allocator& allocator) {
  const Allocation allocation = ask(allocator, problem);
  std::vector<double> found;
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
    found.push_back(scale_of(problem, j) * throughput(problem, allocation, j));
  }
  return found;
}

TEST(WaterFilling, IsTheLexicographicOptimum) {
  Random random(7, "water filling");
  const auto allocator = make_gavel_water_filling({Sight::kRates});
  for (int round = 0; round < 200; ++round) {
    const AllocationProblem problem = random_problem(random);
    const std::vector<double> best = lexicographic_optimum(problem);
    const std::vector<double> ours = shares(problem, *allocator);
    for (std::size_t j = 0; j < best.size(); ++j) {
      EXPECT_NEAR(ours[j], best[j], 1e-5 * (1 + best[j])) << "round " << round << ", job " << j;
    }
  }
}

// Plain max-min fairness stops at the first level: equal in the least share, and not above in any
// later one until the first difference.
TEST(WaterFilling, NobodyElseIsAbove) {
  Random random(8, "water filling");
  const auto filling = make_gavel_water_filling({Sight::kRates});
  const auto max_min = make_gavel_max_min({Sight::kRates});
  int lower = 0;
  for (int round = 0; round < 100; ++round) {
    const AllocationProblem problem = random_problem(random);
    std::vector<double> ours = shares(problem, *filling);
    std::vector<double> theirs = shares(problem, *max_min);
    std::sort(ours.begin(), ours.end());
    std::sort(theirs.begin(), theirs.end());
    constexpr double kNear = 1e-5;
    for (std::size_t i = 0; i < ours.size(); ++i) {
      const double difference = (theirs[i] - ours[i]) / (1 + ours[i]);
      ASSERT_LE(difference, kNear) << "round " << round << ", place " << i;
      if (difference < -kNear) {
        ++lower;
        break;
      }
    }
  }
  EXPECT_GT(lower, 20) << "the draws hardly differ from max-min fairness, and prove little";
}

}  // namespace
}  // namespace muster
