#include "report/quantiles.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(Quantiles, HasNoFiguresWithoutValues) {
  const Quantiles none;
  EXPECT_TRUE(std::isnan(none.mean()));
  EXPECT_TRUE(std::isnan(none.at(0.5)));
  EXPECT_TRUE(std::isnan(none.greatest()));
  EXPECT_TRUE(none.curve(10).empty());
}

TEST(Quantiles, InterpolatesBetweenRanksAsNumpyDoes) {
  Quantiles values;
  for (const double value : {40.0, 10.0, 30.0, 20.0}) values.add(value);
  EXPECT_DOUBLE_EQ(values.at(0.5), 25);
  EXPECT_DOUBLE_EQ(values.at(0.9), 37);
  EXPECT_DOUBLE_EQ(values.at(0), 10);
  EXPECT_DOUBLE_EQ(values.at(1), 40);
  EXPECT_DOUBLE_EQ(values.mean(), 25);
  values.add(0);  // still right when values come after a question
  EXPECT_DOUBLE_EQ(values.at(0.5), 20);
}

TEST(Quantiles, FoldedAnswersStayWithinTheStatedError) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> draw(5, 3);
  Quantiles exact;
  Quantiles folded(1000);
  for (int i = 0; i < 200000; ++i) {
    const double value = i % 10 == 0 ? 0 : draw(random);
    exact.add(value);
    folded.add(value);
  }
  EXPECT_TRUE(exact.exact());
  EXPECT_FALSE(folded.exact());
  for (const double fraction : {0.01, 0.05, 0.2, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const double truth = exact.at(fraction);
    EXPECT_NEAR(folded.at(fraction), truth, 0.0005 * truth) << fraction;
  }
  EXPECT_EQ(folded.greatest(), exact.greatest());
  EXPECT_EQ(folded.mean(), exact.mean());
}

TEST(Quantiles, FoldsNegativeValuesToo) {
  Quantiles exact;
  Quantiles folded(10);
  for (int i = -500; i <= 500; ++i) {
    exact.add(i * 3.7);
    folded.add(i * 3.7);
  }
  for (const double fraction : {0.0, 0.1, 0.3, 0.5, 0.7, 1.0}) {
    EXPECT_NEAR(folded.at(fraction), exact.at(fraction),
                0.0005 * std::abs(exact.at(fraction)) + 1e-9);
  }
}

TEST(Quantiles, CurveRisesEndsAtTheGreatestAndIsShort) {
  Quantiles values;
  for (int i = 0; i < 100000; ++i) values.add((i * 7919) % 100003);
  const auto curve = values.curve(400);
  ASSERT_LE(curve.size(), 400U);
  ASSERT_GE(curve.size(), 399U);
  EXPECT_EQ(curve.back().value, values.greatest());
  EXPECT_EQ(curve.back().fraction, 1);
  for (std::size_t i = 1; i < curve.size(); ++i) {
    EXPECT_LT(curve[i - 1].value, curve[i].value);
    EXPECT_LT(curve[i - 1].fraction, curve[i].fraction);
  }
}

TEST(Quantiles, CurveOfEqualValuesIsOnePoint) {
  Quantiles values;
  for (int i = 0; i < 1000; ++i) values.add(5);
  const auto curve = values.curve(400);
  ASSERT_EQ(curve.size(), 1U);
  EXPECT_EQ(curve[0].fraction, 1);
}

TEST(Sum, KeepsSmallTermsBesideLargeOnes) {
  Sum sum;
  sum.add(1e16);
  for (int i = 0; i < 1000; ++i) sum.add(1);
  sum.add(-1e16);
  EXPECT_EQ(sum.value(), 1000);
}

}  // namespace
}  // namespace muster
