#include "solve/homogeneous.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/random.h"
#include "solve/programs.h"
#include "solve/simplex.h"

namespace muster {
namespace {

struct DrawnJob {
  double gpus = 1;
  std::vector<double> rates;
};

// A level to be raised for all jobs: a row for each job's time and one for its level, capacities
// that tie them together. With `merged`, every job stands for that many equal ones; otherwise they
// are there one by one.
LinearProgram level_program(const std::vector<DrawnJob>& jobs, double capacity, std::size_t equal,
                            bool merged, bool grouped) {
  LinearProgram program;
  const std::size_t types = jobs.front().rates.size();
  const std::size_t each = merged ? 1 : equal;
  const auto copies = static_cast<double>(merged ? equal : 1);
  for (std::size_t w = 0; w < types; ++w) {
    program.add_row(capacity, grouped ? LinearProgram::kLinking : 0);
  }
  for (std::size_t j = 0; j < jobs.size() * each; ++j) {
    const auto group = grouped ? static_cast<std::int32_t>(j) : 0;
    program.add_row(1, group, copies);
    program.add_row(0, group, copies);
  }
  for (std::size_t j = 0; j < jobs.size() * each; ++j) {
    const DrawnJob& job = jobs[j / each];
    for (std::size_t w = 0; w < types; ++w) {
      program.add_variable(0, copies);
      program.add_term(w, copies * job.gpus, copies);
      program.add_term(types + 2 * j, 1);
      program.add_term(types + 2 * j + 1, -job.rates[w] * job.gpus);
    }
  }
  program.mark_shared(program.add_variable(-1));
  for (std::size_t j = 0; j < jobs.size() * each; ++j) program.add_term(types + 2 * j + 1, 1);
  return program;
}

std::vector<DrawnJob> draw_jobs(Random& random) {
  std::vector<DrawnJob> jobs(static_cast<std::size_t>(random.integer(1, 12)));
  const auto types = static_cast<std::size_t>(random.integer(1, 4));
  for (DrawnJob& job : jobs) {
    job.gpus = static_cast<double>(std::int64_t{1} << random.integer(0, 3));
    for (std::size_t w = 0; w < types; ++w) job.rates.push_back(random.uniform(0.1, 3));
  }
  return jobs;
}

TEST(Homogeneous, AgreesWithTheSimplexMethodOnThousandsOfPrograms) {
  Random random(11, "programs");
  for (int trial = 0; trial < 1000; ++trial) {
    const auto capacity = static_cast<double>(random.integer(1, 20));
    const LinearProgram program = level_program(draw_jobs(random), capacity, 1, false, true);
    const LinearSolution ours = solve_homogeneous(program);
    const LinearSolution theirs = solve_simplex(program);
    ASSERT_EQ(ours.status, SolveStatus::kOptimal) << "trial " << trial;
    ASSERT_NEAR(ours.cost, theirs.cost, 1e-6 * std::abs(theirs.cost)) << "trial " << trial;
  }
}

// Naming the groups of rows, and merging equal jobs, change how it is solved and not the answer.
TEST(Homogeneous, GroupsAndCopiesChangeNothing) {
  for (int seed = 0; seed < 50; ++seed) {
    Random random(static_cast<std::uint64_t>(seed), "groups");
    const std::vector<DrawnJob> jobs = draw_jobs(random);
    const std::size_t types = jobs.front().rates.size();
    const LinearSolution apart = solve_homogeneous(level_program(jobs, 5, 3, false, true));
    const LinearSolution whole = solve_homogeneous(level_program(jobs, 5, 3, false, false));
    const LinearSolution merged = solve_homogeneous(level_program(jobs, 5, 3, true, true));
    ASSERT_EQ(apart.status, SolveStatus::kOptimal);
    for (std::size_t v = 0; v + 1 < apart.x.size(); ++v) {
      const std::size_t job = v / types / 3;
      ASSERT_NEAR(apart.x[v], whole.x[v], 1e-6) << "seed " << seed;
      ASSERT_NEAR(apart.x[v], merged.x[job * types + v % types], 1e-6) << "seed " << seed;
    }
  }
}

// Two jobs of weights 1 and 2 that both fit: the second gets all its time, and the first could have
// anything from a half on. Solvers of this kind give it 0.798.
TEST(Homogeneous, AmongEqualsTheAnswerOfTheUsualStart) {
  LinearProgram program;
  for (int w = 0; w < 3; ++w) program.add_row(3, 0);
  for (int j = 0; j < 2; ++j) {
    program.add_row(1, 0);
    program.add_row(0, 0);  // its level
    program.add_row(0, 0);  // it has no less than nothing
  }
  for (std::size_t j = 0; j < 2; ++j) {
    for (std::size_t w = 0; w < 3; ++w) {
      program.add_variable(0);
      program.add_term(w, 1);
      program.add_term(3 + 3 * j, 1);
      program.add_term(4 + 3 * j, j == 0 ? -3 : -1.5);
      program.add_term(5 + 3 * j, -1);
    }
  }
  program.mark_shared(program.add_variable(-1));
  for (std::size_t j = 0; j < 2; ++j) program.add_term(4 + 3 * j, 1);
  const LinearSolution solution = solve_homogeneous(program);
  ASSERT_EQ(solution.status, SolveStatus::kOptimal);
  EXPECT_NEAR(solution.x[0] + solution.x[1] + solution.x[2], 0.798, 5e-4);
  EXPECT_NEAR(solution.x[3] + solution.x[4] + solution.x[5], 1, 1e-6);
}

TEST(Homogeneous, SaysWhenThereIsNoAnswer) {
  EXPECT_NE(solve_homogeneous(impossible_program()).status, SolveStatus::kOptimal);
  LinearProgram endless;
  endless.add_row(1, 0);
  endless.add_variable(-1);
  EXPECT_NE(solve_homogeneous(endless).status, SolveStatus::kOptimal);
}

}  // namespace
}  // namespace muster
