// Muster's own random numbers: fast, small, the same on every machine and compiler.
//
// A stream is named by a seed and a purpose ("arrivals", "failures"): streams of one seed are
// independent of each other, so asking one for more numbers never shifts another. xoshiro256**
// (Blackman and Vigna 2018), seeded by splitmix64; the distributions are ours, because those of
// <random> differ between libraries.
//
// For the streams of Python and NumPy programs see base/random_python.h and base/random_numpy.h.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

namespace muster {

class Random {
 public:
  explicit Random(std::uint64_t seed, std::string_view purpose = {});

  std::uint64_t next() {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // [0, 1), and (0, 1) for those who take a logarithm; 53 bits each.
  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  double open_unit() { return (static_cast<double>(next() >> 12) + 0.5) * 0x1.0p-52; }

  bool chance(double probability) { return unit() < probability; }
  double uniform(double low, double high) { return low + (high - low) * unit(); }
  // [0, count), count > 0, without bias.
  std::uint64_t below(std::uint64_t count);
  // Both ends included.
  std::int64_t integer(std::int64_t least, std::int64_t most);

  double exponential(double mean) { return -mean * std::log(open_unit()); }
  double normal(double mean, double deviation);
  double log_normal(double mu, double sigma) { return std::exp(normal(mu, sigma)); }
  double weibull(double shape, double scale) {
    return scale * std::pow(-std::log(open_unit()), 1.0 / shape);
  }
  double pareto(double shape, double least) { return least * std::pow(open_unit(), -1.0 / shape); }
  double gamma(double shape, double scale);
  // Base 10: 10^uniform(low, high).
  double log_uniform(double low, double high);
  std::int64_t poisson(double mean);

  template <typename T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i-- > 1;) {
      using std::swap;
      swap(items[i], items[static_cast<std::size_t>(below(i + 1))]);
    }
  }

 private:
  std::array<std::uint64_t, 4> state_{};
  double next_normal_ =
      std::numeric_limits<double>::quiet_NaN();  // the polar method makes two at a time
};

// Draws positions with given weights in constant time (Vose's alias method).
class WeightedChoice {
 public:
  // Weights must be finite, not negative, and not all zero.
  explicit WeightedChoice(std::span<const double> weights);

  std::size_t draw(Random& random) const {
    const double scaled = random.unit() * static_cast<double>(keep_.size());
    const auto column = static_cast<std::size_t>(scaled);
    return scaled - static_cast<double>(column) < keep_[column] ? column : other_[column];
  }

 private:
  std::vector<double> keep_;  // chance that a column answers with itself
  std::vector<std::size_t> other_;
};

// splitmix64's finaliser: turns any number into a well-mixed one.
std::uint64_t mix_bits(std::uint64_t value);
// FNV-1a, 64 bits: the same everywhere, unlike std::hash.
std::uint64_t stable_hash(std::string_view text);

}  // namespace muster
