// CPython's random.Random, bit for bit: the same seed and the same calls give the same values.
//
// Use it to draw exactly the jobs of a published generator that was a Python program. The method
// names are Python's. Equal to CPython 3.11 (and, for what is here, to every version from 3.2 on,
// except: sample() on sizes where 3.11 changed it is as in 3.11, paretovariate() as in 3.10 and
// later). The real-valued distributions call log, exp, pow, sin and cos of the C library, as Python
// does.
//
// Not here: seeding by text or bytes, and populations of 2^53 items or more.
#pragma once

#include <cassert>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/random_mersenne.h"

namespace muster {

class PythonRandom {
 public:
  // random.seed(n); like Python, it ignores the sign.
  explicit PythonRandom(std::int64_t seed);
  // random.seed(n) for an integer of any size: its magnitude in 32-bit digits, least first.
  explicit PythonRandom(std::span<const std::uint32_t> digits);

  double random() { return twister_.next_unit(); }
  // An integer of `bits` random bits, 1 to 64.
  std::uint64_t getrandbits(int bits);
  // An integer in [0, count), count > 0: Python's _randbelow.
  std::uint64_t randbelow(std::uint64_t count);
  std::int64_t randint(std::int64_t least, std::int64_t most);  // both ends included
  std::int64_t randrange(std::int64_t start, std::int64_t stop,
                         std::int64_t step = 1);  // stop excluded

  double uniform(double low, double high) { return low + (high - low) * random(); }
  double triangular(double low, double high, std::optional<double> mode = std::nullopt);
  double expovariate(double rate);
  double gauss(double mean, double deviation);
  double normalvariate(double mean, double deviation);
  double lognormvariate(double mean, double deviation);
  double paretovariate(double shape);
  double weibullvariate(double scale, double shape);
  double gammavariate(double shape, double scale);
  double betavariate(double alpha, double beta);

  // Positions instead of items: choice(list) is list[choice(size)], and so on.
  std::size_t choice(std::size_t size) { return static_cast<std::size_t>(randbelow(size)); }
  // choices(population, k=count): with replacement, equal chances.
  std::vector<std::size_t> choices(std::size_t size, std::size_t count);
  // choices(population, weights, k=count).
  std::vector<std::size_t> choices(std::span<const double> weights, std::size_t count);
  // sample(population, count): without replacement, in order of selection.
  std::vector<std::size_t> sample(std::size_t size, std::size_t count);

  template <typename T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i-- > 1;) {
      using std::swap;
      swap(items[i], items[static_cast<std::size_t>(randbelow(i + 1))]);
    }
  }

 private:
  MersenneTwister twister_;
  std::optional<double> next_gauss_;  // gauss() makes two at a time
};

}  // namespace muster
