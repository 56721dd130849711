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

// The same with all equations at once, and the signs of variables as rows: equal to ECOS 2.0.14 to
// the last bit.
TEST(Embedding, IsEcosWithAllEquationsAtOnce) {
  LinearProgram feasible;
  for (const double bound : {0.0, 0.0, 1.0, -0.1}) feasible.add_row(bound, 0);
  for (std::size_t v = 0; v < 2; ++v) {
    feasible.mark_free(feasible.add_variable(0));
    feasible.add_term(v, -1);
    feasible.add_term(2, 1);
    if (v == 0) feasible.add_term(3, -1);
  }
  EXPECT_EQ(solve_embedded(feasible, Equations::kWhole).x,
            (std::vector<double>{0.24554870867791473, 0.3772308726620912}));

  // Three jobs on two types: the level, then time by type.
  const std::vector<double> rates = {2, 3, 5, 1, 2, 4};
  LinearProgram fair;
  for (int r = 0; r < 9; ++r) fair.add_row(0, 0);
  for (int r = 0; r < 5; ++r) fair.add_row(1, 0);
  fair.mark_free(fair.add_variable(-1));
  for (std::size_t j = 0; j < 3; ++j) fair.add_term(j, 1);
  for (std::size_t v = 0; v < 6; ++v) {
    fair.mark_free(fair.add_variable(0));
    fair.add_term(v % 3, -rates[v]);
    fair.add_term(3 + v, -1);
    fair.add_term(9 + v / 3, 1);
    fair.add_term(11 + v % 3, 1);
  }
  EXPECT_EQ(solve_embedded(fair, Equations::kWhole).x,
            (std::vector<double>{1.6666666667073258, 0.8333333333406985, 0.1666666664294746,
                                 2.5260502314666925e-10, -1.925734751663092e-11, 0.5833333336906139,
                                 0.4166666663639069}));

  // The least q with q e >= 1 and e <= 4.
  LinearProgram cones;
  cones.add_row(0, 0);
  cones.add_row(4, 0);
  const std::size_t cone = cones.add_cone({0, 0, 2}, 0);
  cones.mark_free(cones.add_variable(0));
  cones.add_term(0, -1);
  cones.add_term(1, 1);
  cones.add_term(cone, -1);
  cones.add_term(cone + 1, -1);
  cones.mark_free(cones.add_variable(1));
  cones.add_term(cone, -1);
  cones.add_term(cone + 1, 1);
  EXPECT_EQ(solve_embedded(cones, Equations::kWhole).x,
            (std::vector<double>{3.999999986286825, 0.25000000018064816}));
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
