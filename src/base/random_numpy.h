// NumPy's legacy numpy.random.RandomState (and the functions of numpy.random), bit for bit.
//
// Use it to draw exactly the jobs of a published generator that used NumPy. NumPy promises that
// this stream never changes; the method names are NumPy's. Integers are 64 bits wide, NumPy's
// default on Linux.
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/random_mersenne.h"

namespace muster {

class NumpyRandom {
 public:
  explicit NumpyRandom(std::uint32_t seed) { twister_.seed_with_number(seed); }
  // RandomState([a, b, ...]): a seed that is an array, also of one item, makes another stream.
  explicit NumpyRandom(std::span<const std::uint32_t> seed) { twister_.seed_with_key(seed); }

  double random_sample() { return twister_.next_unit(); }
  double rand() { return random_sample(); }
  std::int64_t randint(std::int64_t low, std::int64_t high);  // high excluded
  double uniform(double low, double high) { return low + (high - low) * random_sample(); }
  double exponential(double scale);
  double standard_normal();
  double normal(double mean, double deviation) { return mean + deviation * standard_normal(); }
  double lognormal(double mean, double deviation);
  std::int64_t poisson(double mean);

  // Positions instead of items. choice(size): equal chances; with `chances`, which must add up to
  // one.
  std::int64_t choice(std::int64_t size) { return randint(0, size); }
  std::size_t choice(std::span<const double> chances);
  std::vector<std::size_t> choice(std::span<const double> chances, std::size_t count);
  // choice(size, count, replace=False), without and with chances.
  std::vector<std::int64_t> choice_distinct(std::int64_t size, std::size_t count);
  std::vector<std::size_t> choice_distinct(std::span<const double> chances, std::size_t count);
  std::vector<std::int64_t> permutation(std::int64_t size);

  template <typename T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i-- > 1;) {
      using std::swap;
      swap(items[i], items[static_cast<std::size_t>(up_to(i))]);
    }
  }

 private:
  // An integer in [0, most]: as many low bits as `most` has, thrown away while too large.
  std::uint64_t up_to(std::uint64_t most);
  std::uint64_t next_long();

  MersenneTwister twister_;
  std::optional<double> next_normal_;  // the polar method makes two at a time
};

}  // namespace muster
