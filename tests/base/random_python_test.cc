// Every constant here was printed by CPython 3.11's random.Random.
#include "base/random_python.h"

#include <array>
#include <numeric>

#include <gtest/gtest.h>

#include "stream_hash.h"

namespace muster {
namespace {

constexpr std::int64_t kPythonTwo40 = std::int64_t{1} << 40;

std::uint64_t hash_of_seed(std::int64_t seed) {
  return hash_of_draws(
      PythonRandom(seed), [](PythonRandom& r) { return r.random(); }, 1000);
}

TEST(PythonRandom, FirstNumbersOfSeedOne) {
  PythonRandom random(1);
  EXPECT_EQ(random.random(), 0.13436424411240122);
  EXPECT_EQ(random.random(), 0.8474337369372327);
  EXPECT_EQ(random.random(), 0.763774618976614);
}

TEST(PythonRandom, SeedsOfEverySizeAndSign) {
  EXPECT_EQ(hash_of_seed(0), 0x33182f3052e1d52aU);
  EXPECT_EQ(hash_of_seed(1), 0x740e8a1c0869a090U);
  EXPECT_EQ(hash_of_seed(-7), 0x4fe9b89773f775a5U);
  EXPECT_EQ(hash_of_seed(7), hash_of_seed(-7));
  EXPECT_EQ(hash_of_seed(std::int64_t{1} << 31), 0x8f0eaca1105c73e4U);
  EXPECT_EQ(hash_of_seed(std::int64_t{1} << 32), 0x37cfa300a67182efU);
  EXPECT_EQ(hash_of_seed(kPythonTwo40 + 3), 0x293ba3afd605d3c9U);
  EXPECT_EQ(hash_of_seed(std::numeric_limits<std::int64_t>::min()), 0x9253285a84efa6feU);
}

TEST(PythonRandom, SeedBeyond64Bits) {
  // 2^100 + 12345678901234567890, with a leading zero that Python would not have.
  const std::array<std::uint32_t, 5> digits = {3944680146U, 2874452364U, 0U, 16U, 0U};
  EXPECT_EQ(hash_of_draws(
                PythonRandom(digits), [](PythonRandom& r) { return r.random(); }, 1000),
            0xd08f80bfb04874a0U);
  const std::array<std::uint32_t, 3> zero = {0, 0, 0};
  EXPECT_EQ(PythonRandom(zero).random(), PythonRandom(0).random());
}

TEST(PythonRandom, Getrandbits) {
  PythonRandom random(42);
  EXPECT_EQ(random.getrandbits(1), 1U);
  EXPECT_EQ(random.getrandbits(7), 14U);
  EXPECT_EQ(random.getrandbits(31), 53710184U);
  EXPECT_EQ(random.getrandbits(32), 3184935163U);
  EXPECT_EQ(random.getrandbits(33), 1181241943U);
  EXPECT_EQ(random.getrandbits(48), 39274139637470U);
  EXPECT_EQ(random.getrandbits(63), 945351111358374057U);
  EXPECT_EQ(random.getrandbits(64), 13662908291426823533U);
}

TEST(PythonRandom, Integers) {
  const PythonRandom seed42(42);
  EXPECT_EQ(hash_of_draws(seed42, [](PythonRandom& r) { return r.randint(36000, 86400); }),
            0x58b57b6be357f355U);
  EXPECT_EQ(hash_of_draws(seed42, [](PythonRandom& r) { return r.randint(0, 8); }),
            0xc1930c1ead53a488U);
  EXPECT_EQ(
      hash_of_draws(seed42,
                    [](PythonRandom& r) { return r.randint(-kPythonTwo40, kPythonTwo40 * 32); }),
      0xbd423b0f49944efeU);
  EXPECT_EQ(hash_of_draws(seed42, [](PythonRandom& r) { return r.randrange(10, 100, 7); }),
            0x022b7e8851808fbaU);
  EXPECT_EQ(hash_of_draws(seed42, [](PythonRandom& r) { return r.randrange(100, 10, -7); }),
            0x53aaa37fac4e71ccU);
}

TEST(PythonRandom, RealDistributions) {
  const PythonRandom seed42(42);
  EXPECT_EQ(hash_of_draws(seed42, [](PythonRandom& r) { return r.uniform(-3.5, 12.25); }),
            0xb1ae7f9d583ec93dU);
  EXPECT_EQ(hash_of_draws(seed42, [](PythonRandom& r) { return r.triangular(1.0, 9.0, 2.5); }),
            0x87b45880e9bb6854U);
  EXPECT_EQ(hash_of_draws(seed42, [](PythonRandom& r) { return r.triangular(1.0, 9.0); }),
            0xca9e7f5cd7391eeaU);
  EXPECT_EQ(hash_of_draws(seed42, [](PythonRandom& r) { return r.expovariate(0.25); }),
            0xfb71f910d3d05e1aU);
  EXPECT_EQ(hash_of_draws(seed42, [](PythonRandom& r) { return r.gauss(1.5, 2.0); }),
            0x0f8fdabcaef1ba4dU);
  EXPECT_EQ(hash_of_draws(seed42, [](PythonRandom& r) { return r.normalvariate(1.5, 2.0); }),
            0x43d0906763a943a9U);
  EXPECT_EQ(hash_of_draws(seed42, [](PythonRandom& r) { return r.lognormvariate(6.0, 1.5); }),
            0x1396c4d5e839a3cdU);
  EXPECT_EQ(hash_of_draws(seed42, [](PythonRandom& r) { return r.paretovariate(1.7); }),
            0x4aa2708231dcb688U);
  EXPECT_EQ(hash_of_draws(seed42, [](PythonRandom& r) { return r.weibullvariate(3.0, 0.7); }),
            0x1a35d3aafc2fa766U);
  EXPECT_EQ(hash_of_draws(seed42, [](PythonRandom& r) { return r.gammavariate(2.5, 2.0); }),
            0x8e46d29d78ed0a15U);
  EXPECT_EQ(hash_of_draws(seed42, [](PythonRandom& r) { return r.gammavariate(1.0, 2.0); }),
            0x10bc8cc75679ef4bU);
  EXPECT_EQ(hash_of_draws(seed42, [](PythonRandom& r) { return r.gammavariate(0.4, 2.0); }),
            0x9e8e65f5bc2f33f9U);
  EXPECT_EQ(hash_of_draws(seed42, [](PythonRandom& r) { return r.betavariate(0.5, 3.0); }),
            0x65939aefcfe742cfU);
}

TEST(PythonRandom, ValuesAPersonCanCheck) {
  EXPECT_EQ(PythonRandom(42).uniform(-3.5, 12.25), 6.570972075711669);
  EXPECT_EQ(PythonRandom(42).randint(36000, 86400), 77905);
  EXPECT_EQ(PythonRandom(42).expovariate(0.25), 4.080241149099204);
  EXPECT_EQ(PythonRandom(42).gauss(1.5, 2.0), 1.2118193408441433);
  EXPECT_EQ(PythonRandom(42).gammavariate(0.4, 2.0), 0.9216356910663875);
}

TEST(PythonRandom, Choices) {
  EXPECT_EQ(
      hash_of_draws(PythonRandom(42), [](PythonRandom& r) { return std::uint64_t{r.choice(10)}; }),
      0xe55e1bdda5b6e14eU);
  EXPECT_EQ(hash_of(PythonRandom(42).choices(10, 1000)), 0x25aaa9b6837babc4U);
  const std::array<double, 5> weights = {0.1, 0.25, 0.05, 0.4, 0.2};
  EXPECT_EQ(hash_of(PythonRandom(42).choices(weights, 1000)), 0xff1cb964c46a67c5U);
}

TEST(PythonRandom, SampleOnBothSidesOfItsSwitch) {
  EXPECT_EQ(hash_of(PythonRandom(42).sample(10, 3)), 0xdf3f7a7717151020U);
  EXPECT_EQ(hash_of(PythonRandom(42).sample(22, 5)), 0x8a60bdccaf427cbdU);
  EXPECT_EQ(hash_of(PythonRandom(42).sample(100, 5)), 0xa2bdac5fd8d6c544U);
  EXPECT_EQ(hash_of(PythonRandom(42).sample(85, 10)), 0x8cc665d83e0e38abU);
  EXPECT_EQ(hash_of(PythonRandom(42).sample(1000, 100)), 0xdad7d274997b27b9U);
  EXPECT_EQ(hash_of(PythonRandom(42).sample(100000, 50)), 0xc30160771145af76U);
}

TEST(PythonRandom, Shuffle) {
  std::vector<std::uint64_t> items(1000);
  std::iota(items.begin(), items.end(), 0);
  PythonRandom(42).shuffle(items);
  EXPECT_EQ(items[0], 776U);
  EXPECT_EQ(hash_of(items), 0xea6f7131e366b22dU);
}

}  // namespace
}  // namespace muster
