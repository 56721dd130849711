#include "solve/assignment.h"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "base/random.h"

namespace muster {
namespace {

double cost_of(const std::vector<double>& cost, std::size_t columns,
               const std::vector<std::size_t>& column) {
  double sum = 0;
  for (std::size_t i = 0; i < column.size(); ++i) sum += cost[i * columns + column[i]];
  return sum;
}

TEST(Assignment, BestOfAllPermutationsOnRandomInstances) {
  Random random(7, "assignment");
  for (int trial = 0; trial < 2000; ++trial) {
    const auto rows = static_cast<std::size_t>(random.integer(1, 4));
    const std::size_t columns = rows + static_cast<std::size_t>(random.integer(0, 2));
    std::vector<double> cost(rows * columns);
    // Few different values, so that ties are common.
    for (double& one : cost) one = static_cast<double>(random.integer(-3, 6));
    std::vector<std::size_t> order(columns);
    std::iota(order.begin(), order.end(), 0);
    double best = 1e300;
    do {
      best = std::min(
          best, cost_of(cost, columns, {order.begin(), order.begin() + static_cast<long>(rows)}));
    } while (std::next_permutation(order.begin(), order.end()));
    const auto found = assign_rows(cost, rows, columns);
    std::vector<std::size_t> seen = found;
    std::sort(seen.begin(), seen.end());
    ASSERT_EQ(std::unique(seen.begin(), seen.end()), seen.end());
    ASSERT_EQ(cost_of(cost, columns, found), best) << "trial " << trial;
  }
}

// What scipy.optimize.linear_sum_assignment (1.10) answers where several answers are best.
TEST(Assignment, TiesAsInSciPy) {
  EXPECT_EQ(assign_rows(std::vector<double>(9, 1.0), 3, 3), (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(assign_rows(std::vector<double>(8, 0.0), 2, 4), (std::vector<std::size_t>{0, 1}));
  EXPECT_TRUE(assign_rows({}, 0, 3).empty());
}

}  // namespace
}  // namespace muster
