#include "solve/row_products.h"

#include <random>

#include <gtest/gtest.h>

namespace muster {
namespace {

// Rows of very different lengths, an empty one among them.
LinearProgram random_program(std::mt19937_64& random, std::size_t rows, std::size_t variables) {
  std::uniform_real_distribution<double> value(-2, 2);
  LinearProgram program;
  for (std::size_t r = 0; r < rows; ++r) program.add_row(1, 0);
  for (std::size_t v = 0; v < variables; ++v) {
    program.add_variable(0);
    for (std::size_t r = 0; r + 1 < rows; ++r) {
      if (random() % (r + 1) == 0) program.add_term(r, value(random));
    }
  }
  return program;
}

TEST(RowProducts, AreThoseOfGoingThroughTheVariablesToTheLastBit) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> value(-3, 3);
  for (std::size_t rows = 1; rows < 40; ++rows) {
    LinearProgram program = random_program(random, rows, 3 * rows);
    RowProducts products(program);
    for (int again = 0; again < 2; ++again) {
      std::vector<double> x;
      for (std::size_t v = 0; v < program.variables(); ++v) x.push_back(value(random));
      std::vector<double> expected;
      for (std::size_t r = 0; r < rows; ++r) expected.push_back(value(random));
      std::vector<double> ours = expected;
      for (std::size_t v = 0; v < program.variables(); ++v) {
        for (std::size_t t = program.first_term(v); t < program.last_term(v); ++t) {
          expected[program.terms[t].row] += program.terms[t].value * x[v];
        }
      }
      products.add(x, ours);
      EXPECT_EQ(ours, expected) << rows << " rows";
      for (std::size_t t = 0; t < program.terms.size(); t += 3) {
        program.terms[t].value = value(random);
        products.set_value(t, program.terms[t].value);
      }
    }
  }
}

}  // namespace
}  // namespace muster
