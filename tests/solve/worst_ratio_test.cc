#include "solve/worst_ratio.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/random.h"

namespace muster {
namespace {

RatioProgram one_kind(double capacity, std::vector<RatioProgram::Row> rows,
                      std::vector<double> rates) {
  return {{capacity}, std::move(rows), std::move(rates)};
}

TEST(WorstRatio, EqualRowsShareEqually) {
  const auto answer = smallest_worst_ratio(one_kind(1, {{1, 1, 0, 1}, {1, 1, 0, 1}}, {1, 1}));
  ASSERT_TRUE(answer);
  EXPECT_NEAR(answer->ratio, 2, 1e-7);
  for (const double fraction : answer->fractions) EXPECT_NEAR(fraction, 0.5, 1e-7);
}

// Two that are one row with two copies get the same.
TEST(WorstRatio, CopiesAreRows) {
  const std::vector<double> rates = {3, 1, 2, 5, 2, 5};
  const RatioProgram apart = {{1, 1}, {{1, 1, 2, 4}, {1, 1, 1, 2}, {1, 1, 1, 2}}, rates};
  const RatioProgram merged = {{1, 1}, {{1, 1, 2, 4}, {2, 1, 1, 2}}, {3, 1, 2, 5}};
  const auto first = smallest_worst_ratio(apart);
  const auto second = smallest_worst_ratio(merged);
  ASSERT_TRUE(first && second);
  EXPECT_NEAR(first->ratio, second->ratio, 1e-7 * first->ratio);
  for (std::size_t v = 0; v < 2; ++v) {
    EXPECT_NEAR(first->fractions[v], second->fractions[v], 1e-6);
    EXPECT_NEAR(first->fractions[2 + v], second->fractions[2 + v], 1e-6);
    EXPECT_NEAR(first->fractions[4 + v], second->fractions[2 + v], 1e-6);
  }
}

// With one kind that is too small for all, each has just what the ratio asks for, and that adds up.
TEST(WorstRatio, OneKindIsDividedByNeed) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed, "ratios");
    RatioProgram program;
    const auto count = static_cast<std::size_t>(random.integer(1, 40));
    double wanted = 0;
    for (std::size_t i = 0; i < count; ++i) {
      program.rates.push_back(random.log_uniform(-3, 3));
      const double age = random.chance(0.5) ? 0 : random.log_uniform(-3, 3);
      const double alone = 1 / program.rates.back();
      program.rows.push_back({double(random.integer(1, 4)), double(1 << random.integer(0, 3)), age,
                              (age + alone) * random.log_uniform(-1, 1)});
      wanted += program.rows.back().copies * program.rows.back().units;
    }
    program.capacity = {wanted * random.uniform(0.05, 0.9)};
    const auto answer = smallest_worst_ratio(program);
    ASSERT_TRUE(answer) << seed;
    const auto held = [&](double ratio) {
      double sum = 0;
      for (std::size_t i = 0; i < count; ++i) {
        const RatioProgram::Row& row = program.rows[i];
        const double room = ratio * row.whole - row.age;
        const double part = room > 0 ? 1 / room / program.rates[i] : HUGE_VAL;
        sum += part > 1 ? HUGE_VAL : row.copies * row.units * part;
      }
      return sum;
    };
    double low = 0;
    double high = 1e12;
    for (int i = 0; i < 200; ++i) {
      const double middle = (low + high) / 2;
      (held(middle) <= program.capacity[0] ? high : low) = middle;
    }
    EXPECT_NEAR(answer->ratio, high, 1e-7 * high) << seed;
  }
}

// The first row sets the ratio with all of its time. What the others have beyond their needs is at
// the analytic centre: no change of their fractions makes the sum of the barriers larger.
TEST(WorstRatio, OthersAreLeftAtTheCentre) {
  const RatioProgram program =
      one_kind(2, {{1, 1, 9, 1}, {1, 1, 0, 1}, {1, 1, 1, 2}, {1, 1, 0, 3}}, {1, 4, 5, 6});
  const auto answer = smallest_worst_ratio(program);
  ASSERT_TRUE(answer);
  EXPECT_NEAR(answer->ratio, 10, 1e-6);
  EXPECT_NEAR(answer->fractions[0], 1, 1e-6);
  const auto barrier = [&](const std::vector<double>& x) {
    double left = program.capacity[0] - x[0];
    double sum = 0;
    for (std::size_t i = 1; i < x.size(); ++i) {
      const double speed = program.rates[i] * x[i];
      left -= x[i];
      sum += std::log(x[i]) + std::log(1 - x[i]) + std::log(speed) +
             2 * std::log(10 * program.rows[i].whole - program.rows[i].age - 1 / speed);
    }
    return sum + std::log(left);
  };
  for (std::size_t i = 1; i < 4; ++i) {
    constexpr double kStep = 1e-4;
    std::vector<double> more = answer->fractions;
    std::vector<double> less = answer->fractions;
    more[0] = less[0] = 1;
    more[i] += kStep;
    less[i] -= kStep;
    EXPECT_NEAR((barrier(more) - barrier(less)) / (2 * kStep), 0, 1e-4) << i;
  }
}

TEST(WorstRatio, WithoutARatioThereIsNoAnswer) {
  EXPECT_FALSE(smallest_worst_ratio({{1}, {}, {}}));
  EXPECT_FALSE(smallest_worst_ratio(one_kind(1, {{1, 1, 0, 0}}, {1})));
  EXPECT_FALSE(smallest_worst_ratio(one_kind(1, {{1, 1, 0, 1}}, {0})));
  EXPECT_FALSE(smallest_worst_ratio(one_kind(0, {{1, 1, 0, 1}}, {1})));
}

}  // namespace
}  // namespace muster
