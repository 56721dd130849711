#include "workload/generate/distribution.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace muster {
namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();

std::vector<Distribution> one_of_each() {
  return {Distribution::constant(7),         Distribution::uniform(2, 12),
          Distribution::log_uniform(1, 100), Distribution::exponential(9),
          Distribution::log_normal(2, 0.7),  Distribution::weibull(0.8, 5),
          Distribution::gamma(0.5, 10),      Distribution::gamma(3, 2),
          Distribution::pareto(3, 4)};
}

TEST(Distribution, DrawsAgreeWithSurvivalAndMean) {
  Random random(11);
  constexpr int kDraws = 200000;
  for (const Distribution& distribution : one_of_each()) {
    double sum = 0;
    int above = 0;
    for (int i = 0; i < kDraws; ++i) {
      const double value = distribution.draw(random);
      sum += value;
      above += value > 6 ? 1 : 0;
    }
    EXPECT_NEAR(above / double{kDraws}, distribution.survival(6), 0.005) << distribution.text();
    EXPECT_NEAR(sum / kDraws / distribution.clamped_mean(0, kForever), 1, 0.02)
        << distribution.text();
  }
}

TEST(Distribution, ClampedMeansAreExact) {
  // The mean of min(X, m) for an exponential is mean (1 - exp(-m / mean)).
  EXPECT_NEAR(Distribution::exponential(10).clamped_mean(0, 5), 10 * (1 - std::exp(-0.5)), 1e-6);
  EXPECT_NEAR(Distribution::exponential(10).clamped_mean(3, kForever), 3 + 10 * std::exp(-0.3),
              1e-6);
  EXPECT_NEAR(Distribution::log_normal(6.7, 2).clamped_mean(0, kForever), std::exp(6.7 + 2), 1e-2);
  EXPECT_NEAR(Distribution::pareto(1, 1).clamped_mean(0, std::exp(1.0)), 2, 1e-5);
  EXPECT_EQ(Distribution::pareto(1, 1).clamped_mean(0, kForever), kForever);
  EXPECT_EQ(Distribution::constant(7).clamped_mean(1, 5), 5);
}

TEST(Distribution, MeansAreWhatWasAskedFor) {
  for (const std::string_view name :
       {"constant", "exponential", "lognormal", "weibull", "gamma", "pareto", "loguniform"}) {
    const auto distribution = Distribution::of_mean(name, 500, 1.5);
    ASSERT_TRUE(distribution) << distribution.error().message;
    EXPECT_NEAR(distribution->clamped_mean(0, kForever) / 500, 1, 1e-3) << name;
  }
  EXPECT_NEAR(Distribution::of_mean("uniform", 500, 0.5)->clamped_mean(0, kForever), 500, 0.1);
}

TEST(Distribution, RefusesShapesThatMakeNoSense) {
  EXPECT_FALSE(Distribution::of_mean("pareto", 500, 1));
  EXPECT_FALSE(Distribution::of_mean("uniform", 500, 1.5));
  EXPECT_FALSE(Distribution::of_mean("lognormal", 500, 0));
  EXPECT_NE(
      Distribution::of_mean("lognorml", 1, 1).error().message.find("did you mean 'lognormal'"),
      std::string::npos);
}

TEST(Distribution, GammaPortionAgainstClosedForms) {
  // Shape 1 is 1 - exp(-x); shape 1/2 is erf(sqrt(x)); shape 3 has a closed form, too.
  for (const double x : {0.01, 0.5, 1.0, 2.5, 10.0, 40.0}) {
    EXPECT_NEAR(gamma_portion(1, x), -std::expm1(-x), 1e-12);
    EXPECT_NEAR(gamma_portion(0.5, x), std::erf(std::sqrt(x)), 1e-12);
    EXPECT_NEAR(gamma_portion(3, x), 1 - std::exp(-x) * (1 + x + x * x / 2), 1e-12);
  }
  EXPECT_EQ(gamma_portion(2, 0), 0);
  EXPECT_EQ(gamma_portion(2, kForever), 1);
}

}  // namespace
}  // namespace muster
