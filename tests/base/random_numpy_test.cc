// Every constant here was printed by NumPy's numpy.random.RandomState.
#include "base/random_numpy.h"

#include <array>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include "stream_hash.h"

namespace muster {
namespace {

constexpr std::int64_t kNumpyTwo40 = std::int64_t{1} << 40;
const std::array<double, 5> kChances = {0.1, 0.25, 0.05, 0.4, 0.2};

std::uint64_t hash_of_units(const NumpyRandom& stream) {
  return hash_of_draws(stream, [](NumpyRandom& r) { return r.random_sample(); });
}

TEST(NumpyRandom, Seeds) {
  EXPECT_EQ(NumpyRandom(42).random_sample(), 0.3745401188473625);
  EXPECT_EQ(hash_of_units(NumpyRandom(0)), 0x88c9e961d6518204U);
  EXPECT_EQ(hash_of_units(NumpyRandom(1)), 0x86efba0458cc2dd5U);
  EXPECT_EQ(hash_of_units(NumpyRandom(42)), 0xa4447c483b352ddcU);
  EXPECT_EQ(hash_of_units(NumpyRandom(4294967295U)), 0x58f47479dcb714b9U);
  const std::array<std::uint32_t, 1> one = {42};
  EXPECT_EQ(hash_of_units(NumpyRandom(one)), 0xf60d65d8d5f9fc9eU);
  const std::array<std::uint32_t, 4> four = {1, 2, 3, 4294967295U};
  EXPECT_EQ(hash_of_units(NumpyRandom(four)), 0xe33d78e956b07510U);
}

TEST(NumpyRandom, Integers) {
  const NumpyRandom seed42(42);
  EXPECT_EQ(hash_of_draws(seed42, [](NumpyRandom& r) { return r.randint(0, 10); }),
            0x43db1b7c6d30e323U);
  EXPECT_EQ(hash_of_draws(seed42, [](NumpyRandom& r) { return r.randint(-5, 1000000); }),
            0xfa1cddeb13ecb1d7U);
  EXPECT_EQ(
      hash_of_draws(seed42, [](NumpyRandom& r) { return r.randint(0, std::int64_t{1} << 32); }),
      0x2b71ba9abaf574abU);
  EXPECT_EQ(hash_of_draws(seed42,
                          [](NumpyRandom& r) { return r.randint(-kNumpyTwo40, kNumpyTwo40 * 32); }),
            0x084e9b8dfa4e9d67U);
  EXPECT_EQ(hash_of_draws(seed42,
                          [](NumpyRandom& r) {
                            return r.randint(std::numeric_limits<std::int64_t>::min(),
                                             std::numeric_limits<std::int64_t>::max());
                          }),
            0x1739f7ea1bf707bbU);
  EXPECT_EQ(hash_of_draws(
                seed42, [](NumpyRandom& r) { return r.randint(3, 4); }, 5),
            0xd0be4e6d7616d2a6U);
}

TEST(NumpyRandom, RealDistributions) {
  const NumpyRandom seed42(42);
  EXPECT_EQ(hash_of_draws(seed42, [](NumpyRandom& r) { return r.uniform(-3.5, 12.25); }),
            0xf6419ad93fd1faa8U);
  EXPECT_EQ(hash_of_draws(seed42, [](NumpyRandom& r) { return r.exponential(450.0); }),
            0x040777bc0e3124a0U);
  EXPECT_EQ(hash_of_draws(seed42, [](NumpyRandom& r) { return r.standard_normal(); }),
            0x5e41ae497fb0f6d3U);
  EXPECT_EQ(hash_of_draws(seed42, [](NumpyRandom& r) { return r.normal(1.5, 2.0); }),
            0xa66906cbd43df90bU);
  EXPECT_EQ(hash_of_draws(seed42, [](NumpyRandom& r) { return r.lognormal(6.0, 1.5); }),
            0xbfb53993018570abU);
  EXPECT_EQ(NumpyRandom(42).normal(1.5, 2.0), 2.4934283060224653);
  EXPECT_EQ(NumpyRandom(42).exponential(450.0), 211.1706404895866);
}

TEST(NumpyRandom, PoissonByBothMethods) {
  const NumpyRandom seed42(42);
  const auto hash_of_mean = [&](double mean) {
    return hash_of_draws(seed42, [mean](NumpyRandom& r) { return r.poisson(mean); });
  };
  EXPECT_EQ(hash_of_mean(0), 0x9b85a68c78294d25U);
  EXPECT_EQ(hash_of_mean(0.3), 0x580ec3ec0636bb65U);
  EXPECT_EQ(hash_of_mean(5.5), 0x245fd5bb5664729aU);
  EXPECT_EQ(hash_of_mean(9.999), 0xce6a3589e6ebbaf6U);
  EXPECT_EQ(hash_of_mean(10), 0x97051738fa41a2a5U);
  EXPECT_EQ(hash_of_mean(42.5), 0xa4221045c0825da4U);
  EXPECT_EQ(hash_of_mean(1000), 0x37027d5a21c67367U);
}

TEST(NumpyRandom, Choice) {
  EXPECT_EQ(hash_of_draws(NumpyRandom(42),
                          [](NumpyRandom& r) { return std::uint64_t{r.choice(kChances)}; }),
            0xc005f6ac1a5f7ae7U);
  EXPECT_EQ(hash_of(NumpyRandom(42).choice(kChances, 1000)), 0xfda3c53386272c60U);
  EXPECT_EQ(hash_of_draws(NumpyRandom(42), [](NumpyRandom& r) { return r.choice(10); }),
            0x43db1b7c6d30e323U);
}

TEST(NumpyRandom, ChoiceWithoutReplacement) {
  EXPECT_EQ(hash_of(NumpyRandom(42).choice_distinct(100, 20)), 0xb45a54a110d30d07U);
  std::vector<double> chances;
  for (int i = 1; i <= 50; ++i) chances.push_back(i / 1275.0);
  EXPECT_EQ(hash_of(NumpyRandom(42).choice_distinct(chances, 40)), 0xa671b917bad3d381U);
}

TEST(NumpyRandom, PermutationAndShuffle) {
  EXPECT_EQ(hash_of(NumpyRandom(42).permutation(1000)), 0x678fae2ac21e9581U);
  std::vector<std::uint64_t> items(1000);
  std::iota(items.begin(), items.end(), 0);
  NumpyRandom(42).shuffle(items);
  EXPECT_EQ(items[0], 521U);
  EXPECT_EQ(hash_of(items), 0x678fae2ac21e9581U);
}

}  // namespace
}  // namespace muster
