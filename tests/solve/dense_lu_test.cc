#include "solve/dense_lu.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/random.h"

namespace muster {
namespace {

// Symmetric, indefinite, and with a diagonal over twelve orders of magnitude.
TEST(DenseLu, SolvesIndefiniteSystems) {
  Random random(5, "matrices");
  for (int trial = 0; trial < 200; ++trial) {
    const auto n = static_cast<std::size_t>(random.integer(1, 12));
    std::vector<double> matrix(n * n);
    DenseLu lu;
    lu.resize(n);
    lu.clear();
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k <= i; ++k) {
        const double size = i == k ? std::pow(10, random.uniform(-6, 6)) : 1;
        matrix[i * n + k] = matrix[k * n + i] = random.uniform(-1, 1) * size;
        lu.at(i, k) = matrix[i * n + k];
      }
    }
    std::vector<double> answer(n);
    for (double& value : answer) value = random.uniform(-1, 1);
    std::vector<double> right(n, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < n; ++k) right[i] += matrix[i * n + k] * answer[k];
    }
    std::vector<double> x = right;
    ASSERT_TRUE(lu.factor());
    lu.solve(x);
    for (std::size_t i = 0; i < n; ++i) {
      double left = -right[i];
      double size = std::abs(right[i]);
      for (std::size_t k = 0; k < n; ++k) {
        left += matrix[i * n + k] * x[k];
        size += std::abs(matrix[i * n + k] * x[k]);
      }
      ASSERT_LE(std::abs(left), 1e-9 * size) << "trial " << trial << " row " << i;
    }
  }
}

TEST(DenseLu, SaysWhenNumbersAreNoLongerFinite) {
  DenseLu lu;
  lu.resize(2);
  lu.clear();
  lu.at(0, 0) = std::nan("");
  lu.at(1, 1) = 1;
  EXPECT_FALSE(lu.factor());
}

}  // namespace
}  // namespace muster
