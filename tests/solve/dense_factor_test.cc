#include "solve/dense_factor.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"

namespace muster {
namespace {

std::vector<double> random_matrix(Random& random, std::size_t n) {
  std::vector<double> columns(n * n);
  for (double& value : columns) value = random.normal(0, 1);
  std::vector<double> matrix(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      matrix[i * n + j] = dot(columns.data() + i * n, columns.data() + j * n, n);
    }
    matrix[i * n + i] += 1;
  }
  return matrix;
}

// Entry by entry, each by one dot().
void factor_plainly(std::vector<double>& a, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    double* row = a.data() + i * n;
    for (std::size_t j = 0; j < i; ++j) {
      row[j] = (row[j] - dot(a.data() + j * n, row, j)) / a[j * n + j];
    }
    row[i] = std::sqrt(row[i] - dot(row, row, i));
  }
}

TEST(DenseFactor, EveryBitAsEntryByEntry) {
  Random random(3, "dense");
  for (std::size_t n = 1; n < 90; ++n) {
    std::vector<double> ours = random_matrix(random, n);
    std::vector<double> plain = ours;
    ASSERT_TRUE(cholesky(ours.data(), n));
    factor_plainly(plain, n);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        ASSERT_EQ(ours[i * n + j], plain[i * n + j]) << n << " rows: " << i << ", " << j;
      }
    }
  }
}

TEST(DenseFactor, SolvesBothWays) {
  Random random(4, "dense");
  constexpr std::size_t kRows = 37;
  std::vector<double> factor = random_matrix(random, kRows);
  const std::vector<double> matrix = factor;
  ASSERT_TRUE(cholesky(factor.data(), kRows));
  std::vector<double> x(kRows, 1.0);
  solve_forward(factor.data(), kRows, x.data());
  solve_backward(factor.data(), kRows, x.data());
  for (std::size_t i = 0; i < kRows; ++i) {
    EXPECT_NEAR(dot(matrix.data() + i * kRows, x.data(), kRows), 1, 1e-9);
  }
}

// The third row is the sum of the others: it takes no part.
TEST(DenseFactor, RowThatDependsOnOthers) {
  std::vector<double> matrix = {2, 0, 2, 0, 3, 3, 2, 3, 5};
  ASSERT_TRUE(cholesky(matrix.data(), 3));
  std::vector<double> x = {2, 3, 5};
  solve_forward(matrix.data(), 3, x.data());
  solve_backward(matrix.data(), 3, x.data());
  EXPECT_NEAR(x[0], 1, 1e-9);
  EXPECT_NEAR(x[1], 1, 1e-9);
  EXPECT_NEAR(x[2], 0, 1e-9);
}

TEST(DenseFactor, NumbersThatAreNotFinite) {
  std::vector<double> matrix = {HUGE_VAL};
  EXPECT_FALSE(cholesky(matrix.data(), 1));
}

}  // namespace
}  // namespace muster
