#include "solve/interior_point.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/random.h"
#include "solve/programs.h"
#include "solve/simplex.h"

namespace muster {
namespace {

// The shape of the programs here: jobs with a row for their time and one for their level,
// capacities that tie them together, a level to be raised.
LinearProgram fair_program(Random& random, std::size_t jobs, std::size_t types, bool grouped) {
  LinearProgram program;
  const auto linking = grouped ? LinearProgram::kLinking : 0;
  for (std::size_t w = 0; w < types; ++w) {
    program.add_row(static_cast<double>(random.integer(1, 20)), linking);
  }
  for (std::size_t j = 0; j < jobs; ++j) {
    const auto group = grouped ? static_cast<std::int32_t>(j) : 0;
    program.add_row(1, group);
    program.add_row(0, group);
  }
  for (std::size_t j = 0; j < jobs; ++j) {
    const auto gpus = static_cast<double>(std::int64_t{1} << random.integer(0, 3));
    for (std::size_t w = 0; w < types; ++w) {
      program.add_variable(0);
      program.add_term(w, gpus);
      program.add_term(types + 2 * j, 1);
      program.add_term(types + 2 * j + 1, -random.uniform(0.1, 3) * gpus);
    }
  }
  program.add_variable(-1);
  for (std::size_t j = 0; j < jobs; ++j) program.add_term(types + 2 * j + 1, 1);
  return program;
}

double worst_violation(const LinearProgram& program, const std::vector<double>& x) {
  std::vector<double> used(program.rows(), 0.0);
  double worst = 0;
  for (std::size_t v = 0; v < program.variables(); ++v) {
    worst = std::max(worst, -x[v]);
    for (std::size_t t = program.first_term(v); t < program.last_term(v); ++t) {
      used[program.terms[t].row] += program.terms[t].value * x[v];
    }
  }
  for (std::size_t r = 0; r < program.rows(); ++r) {
    worst = std::max(worst, used[r] - program.bounds[r]);
  }
  return worst;
}

TEST(InteriorPoint, AgreesWithTheSimplexMethodOnThousandsOfPrograms) {
  Random random(11, "programs");
  for (int trial = 0; trial < 2000; ++trial) {
    const auto jobs = static_cast<std::size_t>(random.integer(1, 12));
    const auto types = static_cast<std::size_t>(random.integer(1, 4));
    const LinearProgram program = fair_program(random, jobs, types, trial % 2 == 0);
    const LinearSolution ours = solve_interior(program);
    const LinearSolution theirs = solve_simplex(program);
    ASSERT_EQ(theirs.status, SolveStatus::kOptimal);
    ASSERT_EQ(ours.status, SolveStatus::kOptimal) << "trial " << trial;
    ASSERT_NEAR(ours.cost, theirs.cost, 1e-6 * std::abs(theirs.cost)) << "trial " << trial;
    ASSERT_LE(worst_violation(program, ours.x), 1e-6) << "trial " << trial;
  }
}

TEST(InteriorPoint, GroupsChangeNothing) {
  for (int seed = 0; seed < 50; ++seed) {
    Random one(static_cast<std::uint64_t>(seed), "groups");
    Random other(static_cast<std::uint64_t>(seed), "groups");
    const LinearSolution grouped = solve_interior(fair_program(one, 30, 3, true));
    const LinearSolution whole = solve_interior(fair_program(other, 30, 3, false));
    ASSERT_EQ(grouped.x.size(), whole.x.size());
    for (std::size_t v = 0; v < whole.x.size(); ++v) {
      ASSERT_NEAR(grouped.x[v], whole.x[v], 1e-5) << "seed " << seed;
    }
  }
}

// Two equal jobs merged into one with two copies get what each of them got.
TEST(InteriorPoint, CopiesStandForEqualOnes) {
  const auto program = [](int merged) {
    LinearProgram p;
    p.add_row(1, 0);
    const int classes = merged != 0 ? 1 : 2;
    const double copies = merged != 0 ? 2 : 1;
    for (int c = 0; c < classes; ++c) p.add_row(1, 0, copies);
    for (int c = 0; c < classes; ++c) {
      p.add_variable(-copies, copies);
      p.add_term(0, copies);
      p.add_term(static_cast<std::size_t>(c) + 1, 1);
    }
    p.add_variable(-0.25);
    p.add_term(0, 1);
    return p;
  };
  const LinearSolution apart = solve_interior(program(0));
  const LinearSolution merged = solve_interior(program(1));
  EXPECT_NEAR(apart.x[0], merged.x[0], 1e-6);
  EXPECT_NEAR(apart.x[1], merged.x[0], 1e-6);
}

// With nothing to gain, the middle: of x <= 1 it is a half.
TEST(InteriorPoint, WithoutCostsTheCentre) {
  LinearProgram program;
  program.add_row(1, 0);
  program.add_variable(0);
  program.add_term(0, 1);
  EXPECT_NEAR(solve_interior(program).x[0], 0.5, 1e-3);
}

TEST(InteriorPoint, SaysWhenThereIsNoAnswer) {
  const LinearProgram program = impossible_program();
  EXPECT_NE(solve_interior(program).status, SolveStatus::kOptimal);
  EXPECT_EQ(solve_simplex(program).status, SolveStatus::kInfeasible);
}

}  // namespace
}  // namespace muster
