// The older assignment is as good as ours, and differs where several are best.
#include "artifacts/gavel/munkres.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/random.h"
#include "solve/assignment.h"

namespace muster {
namespace {

double cost_of(const std::vector<double>& cost, std::size_t columns,
               const std::vector<std::size_t>& column) {
  double sum = 0;
  for (std::size_t i = 0; i < column.size(); ++i) sum += cost[i * columns + column[i]];
  return sum;
}

TEST(Munkres, IsAsGoodAsTheOtherAlgorithm) {
  Random random(7, "assignment");
  for (int trial = 0; trial < 2000; ++trial) {
    const auto rows = static_cast<std::size_t>(random.integer(1, 5));
    const std::size_t columns = rows + static_cast<std::size_t>(random.integer(0, 3));
    std::vector<double> cost(rows * columns);
    // Few different values, so that ties are common.
    for (double& one : cost) one = static_cast<double>(random.integer(-3, 6));
    const auto found = assign_rows_by_munkres(cost, rows, columns);
    ASSERT_EQ(cost_of(cost, columns, found),
              cost_of(cost, columns, assign_rows(cost, rows, columns)))
        << "trial " << trial;
    std::vector<std::size_t> seen = found;
    std::sort(seen.begin(), seen.end());
    ASSERT_EQ(std::unique(seen.begin(), seen.end()), seen.end());
  }
}

// What scipy.optimize.linear_sum_assignment answers in version 1.2.1, which had Munkres' algorithm.
TEST(Munkres, TiesAsInOlderSciPy) {
  using Columns = std::vector<std::size_t>;
  EXPECT_EQ(assign_rows_by_munkres(std::vector<double>(9, 1.0), 3, 3), (Columns{0, 1, 2}));
  EXPECT_TRUE(assign_rows_by_munkres({}, 0, 3).empty());
  const std::vector<double> first = {2, 0, 1, 3, 0, 0, 0, 1, 1, 3, 2, 3,
                                     1, 1, 2, 1, 3, 2, 0, 0, 0, 1, 3, 2};
  EXPECT_EQ(assign_rows_by_munkres(first, 4, 6), (Columns{1, 0, 3, 2}));
  const std::vector<double> second = {3, 1, 1, 2, 1, 1, 1, 1, 1, 3, 2, 3,
                                      0, 0, 3, 3, 0, 3, 0, 0, 0, 2, 2, 3};
  EXPECT_EQ(assign_rows_by_munkres(second, 4, 6), (Columns{1, 0, 4, 2}));
  // Four jobs for the queues of three GPUs, of which two are equal.
  const std::vector<double> run = {30, 30, 60, 30, 30, 90, 60, 60, 60, 20, 20, 100};
  const std::vector<double> age = {5, 5, 0, 0};
  std::vector<double> cost;
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t place = 0; place < 4; ++place) {
      for (std::size_t queue = 0; queue < 3; ++queue) {
        cost.push_back(static_cast<double>(place + 1) * run[i * 3 + queue] + age[i]);
      }
    }
  }
  EXPECT_EQ(assign_rows_by_munkres(cost, 4, 12), (Columns{0, 1, 2, 3}));
}

}  // namespace
}  // namespace muster
