#include "run/sweep/statistics.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace muster {
namespace {

// Two-sided 95 % and one-sided 99 % points from printed tables of the t distribution.
TEST(StudentT, TableValues) {
  EXPECT_NEAR(student_t_quantile(0.975, 1), 12.7062, 1e-4);
  EXPECT_NEAR(student_t_quantile(0.975, 2), 4.30265, 1e-5);
  EXPECT_NEAR(student_t_quantile(0.975, 4), 2.77645, 1e-5);
  EXPECT_NEAR(student_t_quantile(0.975, 9), 2.26216, 1e-5);
  EXPECT_NEAR(student_t_quantile(0.975, 30), 2.04227, 1e-5);
  EXPECT_NEAR(student_t_quantile(0.99, 5), 3.36493, 1e-5);
  EXPECT_NEAR(student_t_quantile(0.975, 1e6), 1.95997, 1e-4);
  EXPECT_NEAR(student_t_quantile(0.025, 9), -2.26216, 1e-5);
  EXPECT_NEAR(student_t_quantile(0.5, 3), 0, 1e-12);
}

TEST(Interval, MeanAndHalfWidth) {
  const std::vector<double> values = {4, 6, 8, 10};
  const Interval interval = mean_interval(values, 0.95);
  EXPECT_DOUBLE_EQ(interval.mean, 7);
  // Standard deviation sqrt(20/3), error of the mean its half, times t(3).
  EXPECT_NEAR(interval.half_width, 3.18245 * std::sqrt(20.0 / 3) / 2, 1e-4);
  EXPECT_TRUE(std::isnan(mean_interval(std::vector<double>{5}, 0.95).half_width));
  EXPECT_TRUE(std::isnan(mean_interval(std::vector<double>{}, 0.95).mean));
}

// Pairs share their random numbers: what they have in common does not widen the interval.
TEST(Interval, PairsRemoveWhatIsCommon) {
  const std::vector<double> baseline = {100, 500, 900};
  const std::vector<double> values = {110, 511, 909};
  const Interval interval = paired_interval(values, baseline, 0.95);
  EXPECT_DOUBLE_EQ(interval.mean, 10);
  EXPECT_NEAR(interval.half_width, 4.30265 * 1.0 / std::sqrt(3.0), 1e-4);
  EXPECT_GT(mean_interval(values, 0.95).half_width, 100);
}

}  // namespace
}  // namespace muster
