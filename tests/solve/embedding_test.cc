#include "solve/embedding.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/random.h"
#include "solve/simplex.h"

namespace muster {
namespace {

// Jobs with rates on two types of GPUs, a row each for their time and their level; `merged`: each
// stands for two equal ones.
LinearProgram fair_program(std::uint64_t seed, bool merged) {
  Random random(seed, "embedding");
  LinearProgram program;
  program.add_row(5, LinearProgram::kLinking);
  program.add_row(3, LinearProgram::kLinking);
  const int copies = merged ? 1 : 2;
  std::vector<double> rates;
  for (int j = 0; j < 6; ++j) {
    rates.push_back(random.uniform(0.2, 4));
    rates.push_back(random.uniform(0.2, 4));
  }
  for (int j = 0; j < 6 * copies; ++j) {
    program.add_row(1, j, merged ? 2 : 1);
    program.add_row(0, j, merged ? 2 : 1);
  }
  for (int j = 0; j < 6 * copies; ++j) {
    const auto own = static_cast<std::size_t>(2 + 2 * j);
    for (std::size_t w = 0; w < 2; ++w) {
      program.add_variable(0, merged ? 2 : 1);
      program.add_term(w, merged ? 2 : 1, merged ? 2 : 1);
      program.add_term(own, 1);
      program.add_term(own + 1, -rates[static_cast<std::size_t>(j / copies) * 2 + w]);
    }
  }
  program.mark_shared(program.add_variable(-1));
  for (int j = 0; j < 6 * copies; ++j) program.add_term(static_cast<std::size_t>(3 + 2 * j), 1);
  return program;
}

TEST(Embedding, AgreesWithTheSimplexMethod) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const LinearProgram program = fair_program(seed, false);
    const LinearSolution ours = solve_embedded(program);
    const LinearSolution theirs = solve_simplex(program);
    ASSERT_EQ(ours.status, SolveStatus::kOptimal) << "seed " << seed;
    ASSERT_NEAR(ours.cost, theirs.cost, 1e-6 * std::abs(theirs.cost)) << "seed " << seed;
  }
}

// The path is the same, and so is the answer, also where there are many.
TEST(Embedding, CopiesStandForEqualOnes) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const LinearSolution apart = solve_embedded(fair_program(seed, false));
    const LinearSolution merged = solve_embedded(fair_program(seed, true));
    ASSERT_EQ(apart.iterations, merged.iterations);
    for (std::size_t v = 0; v + 1 < merged.x.size(); ++v) {
      const std::size_t first = v / 2 * 4 + v % 2;
      ASSERT_NEAR(apart.x[first], merged.x[v], 1e-7) << "seed " << seed;
      ASSERT_NEAR(apart.x[first + 2], merged.x[v], 1e-7) << "seed " << seed;
    }
  }
}

// Figures of ECOS 2.0.14 itself. Nothing is to be gained, so it stops at the first point that it
// takes for feasible: x + y <= 1, x >= 0.1 and y >= 0, not in their middle.
TEST(Embedding, EndsWhereEcosEnds) {
  LinearProgram program;
  program.add_row(1, 0);
  program.add_row(-0.1, 0);
  program.add_variable(0);
  program.add_term(0, 1);
  program.add_term(1, -1);
  program.add_variable(0);
  program.add_term(0, 1);
  const LinearSolution solution = solve_embedded(program);
  ASSERT_EQ(solution.status, SolveStatus::kOptimal);
  EXPECT_NEAR(solution.x[0], 0.245548708, 2e-5);
  EXPECT_NEAR(solution.x[1], 0.377230872, 2e-5);
}

// The least q with q e >= 1 and e <= 4: q + e >= |(q - e, 2)|.
TEST(Embedding, Cones) {
  LinearProgram program;
  program.add_row(4, 0);
  const std::size_t cone = program.add_cone({0, 0, 2}, 0);
  program.add_variable(0);
  program.add_term(0, 1);
  program.add_term(cone, -1);
  program.add_term(cone + 1, -1);
  program.mark_free(program.add_variable(1));
  program.add_term(cone, -1);
  program.add_term(cone + 1, 1);
  const LinearSolution solution = solve_embedded(program);
  ASSERT_EQ(solution.status, SolveStatus::kOptimal);
  EXPECT_NEAR(solution.x[0], 4, 1e-6);
  EXPECT_NEAR(solution.x[1], 0.25, 1e-6);
}

TEST(Embedding, SaysWhenThereIsNoAnswer) {
  LinearProgram program;
  program.add_row(1, 0);
  program.add_row(-2, 0);
  program.add_variable(-1);
  program.add_term(0, 1);
  program.add_term(1, -1);
  EXPECT_EQ(solve_embedded(program).status, SolveStatus::kInfeasible);
}

}  // namespace
}  // namespace muster
