#include "solve/symmetric_factor.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/random.h"

namespace muster {
namespace {

// Some pivots positive, some negative, few entries beside the diagonal.
TEST(SymmetricFactor, SolvesSparseEquations) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed, "symmetric");
    const auto size = static_cast<std::int32_t>(1 + seed % 40);
    std::vector<signed char> signs;
    std::vector<SymmetricFactor::Entry> entries;
    std::vector<double> values;
    for (std::int32_t c = 0; c < size; ++c) {
      signs.push_back(c < size / 2 ? 1 : -1);
      for (std::int32_t r = 0; r < c; ++r) {
        // Between pivots of one sign nothing stands.
        if (signs[static_cast<std::size_t>(r)] == signs.back() || random.uniform(0, 1) > 0.2) {
          continue;
        }
        entries.push_back({r, c});
        values.push_back(random.uniform(-2, 2));
      }
      entries.push_back({c, c});
      values.push_back(signs.back() * random.uniform(0.1, 3));
    }
    SymmetricFactor factor(entries, signs);
    factor.factor(values);
    std::vector<double> right;
    for (std::int32_t r = 0; r < size; ++r) right.push_back(random.uniform(-1, 1));
    std::vector<double> x = right;
    factor.solve(x);
    for (std::size_t e = 0; e < entries.size(); ++e) {
      const auto r = static_cast<std::size_t>(entries[e].row);
      const auto c = static_cast<std::size_t>(entries[e].column);
      right[r] -= values[e] * x[c];
      if (r != c) right[c] -= values[e] * x[r];
    }
    for (const double left : right) ASSERT_NEAR(left, 0, 1e-10) << "seed " << seed;
  }
}

// A pivot of the wrong sign is replaced by a small one of the right one.
TEST(SymmetricFactor, KeepsTheSignsOfPivots) {
  SymmetricFactor factor({{0, 0}}, {1});
  factor.factor({-1});
  std::vector<double> x = {2e-7};
  factor.solve(x);
  EXPECT_DOUBLE_EQ(x[0], 1);
}

}  // namespace
}  // namespace muster
