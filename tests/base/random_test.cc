#include "base/random.h"

#include <algorithm>
#include <array>
#include <numeric>

#include <gtest/gtest.h>

#include "stream_hash.h"

namespace muster {
namespace {

constexpr int kDraws = 200000;

struct Moments {
  double mean = 0;
  double variance = 0;
};

template <typename Draw>
Moments moments_of(Draw draw) {
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double value = draw();
    sum += value;
    squares += value * value;
  }
  const double mean = sum / kDraws;
  return {mean, squares / kDraws - mean * mean};
}

TEST(Random, StreamsArePinnedForEver) {
  // Changing any of these changes every generated workload of every user.
  EXPECT_EQ(mix_bits(1), 0x5692161d100b05e5U);
  EXPECT_EQ(stable_hash("arrivals"), stable_hash(std::string("arri") + "vals"));
  EXPECT_EQ(stable_hash(""), 0xcbf29ce484222325U);
  EXPECT_EQ(stable_hash("a"), 0xaf63dc4c8601ec8cU);  // FNV-1a's published example
  EXPECT_EQ(hash_of_draws(Random(1, "arrivals"), [](Random& r) { return r.next(); }),
            0x767f853e5dbf4e62U);
  EXPECT_EQ(hash_of_draws(Random(1), [](Random& r) { return r.below(1000003); }),
            0xe800e72272de9bcaU);
}

TEST(Random, XoshiroMatchesItsReference) {
  // The published recurrence, written out without std::rotl, from the same seeded state.
  std::array<std::uint64_t, 4> state{};
  std::uint64_t counter = mix_bits(7 + 0x9e3779b97f4a7c15U) ^ stable_hash("check");
  for (std::uint64_t& word : state) word = mix_bits(counter += 0x9e3779b97f4a7c15U);
  Random random(7, "check");
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t five = state[1] * 5;
    const std::uint64_t expected = ((five << 7) | (five >> 57)) * 9;
    const std::uint64_t shifted = state[1] << 17;
    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= shifted;
    state[3] = (state[3] << 45) | (state[3] >> 19);
    ASSERT_EQ(random.next(), expected);
  }
}

TEST(Random, PurposesAndSeedsMakeDifferentStreams) {
  EXPECT_NE(Random(1, "arrivals").next(), Random(1, "durations").next());
  EXPECT_NE(Random(1, "arrivals").next(), Random(2, "arrivals").next());
  EXPECT_EQ(Random(1, "arrivals").next(), Random(1, "arrivals").next());
}

TEST(Random, UnitsStayInside) {
  Random random(3);
  for (int i = 0; i < kDraws; ++i) {
    const double closed = random.unit();
    const double open = random.open_unit();
    ASSERT_TRUE(closed >= 0 && closed < 1);
    ASSERT_TRUE(open > 0 && open < 1);
  }
}

TEST(Random, BelowIsEvenAndInRange) {
  Random random(4);
  std::array<int, 7> counts{};
  for (int i = 0; i < kDraws; ++i) ++counts.at(random.below(7));
  for (const int count : counts) EXPECT_NEAR(count, kDraws / 7.0, 6 * std::sqrt(kDraws / 7.0));
  EXPECT_EQ(random.below(1), 0U);
  EXPECT_GE(random.integer(-3, -1), -3);
  random.integer(std::numeric_limits<std::int64_t>::min(),
                 std::numeric_limits<std::int64_t>::max());
}

TEST(Random, DistributionsHaveTheirMoments) {
  Random random(5);
  const auto near = [](double value, double expected) {
    EXPECT_NEAR(value, expected, 0.03 * std::abs(expected) + 0.01);
  };
  Moments m = moments_of([&] { return random.exponential(3); });
  near(m.mean, 3);
  near(m.variance, 9);
  m = moments_of([&] { return random.normal(-2, 3); });
  near(m.mean, -2);
  near(m.variance, 9);
  m = moments_of([&] { return random.log_normal(1, 0.5); });
  near(m.mean, std::exp(1.125));
  m = moments_of([&] { return random.weibull(1.5, 2); });
  near(m.mean, 2 * std::tgamma(1 + 1 / 1.5));
  m = moments_of([&] { return random.pareto(5, 2); });
  near(m.mean, 2.5);
  for (const double shape : {0.3, 1.0, 4.5}) {
    m = moments_of([&] { return random.gamma(shape, 2); });
    near(m.mean, 2 * shape);
    near(m.variance, 4 * shape);
  }
  for (const double mean : {0.0, 0.7, 25.0, 300.0, 2e6}) {
    m = moments_of([&] { return static_cast<double>(random.poisson(mean)) - mean; });
    EXPECT_NEAR(m.mean, 0, 6 * std::sqrt(mean / kDraws));
    near(m.variance, mean);
  }
}

TEST(WeightedChoice, DrawsByWeightAndNeverAZero) {
  Random random(6);
  const std::array<double, 6> weights = {0, 3, 0.5, 0, 6.25, 0.25};
  const WeightedChoice choice(weights);
  std::array<int, 6> counts{};
  for (int i = 0; i < kDraws; ++i) ++counts.at(choice.draw(random));
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double expected = weights.at(i) / 10.0 * kDraws;
    EXPECT_NEAR(counts.at(i), expected, 6 * std::sqrt(expected)) << i;
  }
}

TEST(WeightedChoice, ManyAwkwardWeights) {
  Random random(7);
  std::vector<double> weights;
  weights.reserve(997);
  for (int i = 0; i < 997; ++i) weights.push_back(i % 3 == 0 ? 0.0 : 1.0 / (i + 0.1));
  const WeightedChoice choice(weights);
  for (int i = 0; i < kDraws; ++i) ASSERT_GT(weights[choice.draw(random)], 0.0);
}

TEST(Random, ShuffleKeepsItemsAndMovesThem) {
  std::vector<int> items(100);
  std::iota(items.begin(), items.end(), 0);
  const std::vector<int> before = items;
  Random(8).shuffle(items);
  EXPECT_NE(items, before);
  std::sort(items.begin(), items.end());
  EXPECT_EQ(items, before);
}

}  // namespace
}  // namespace muster
