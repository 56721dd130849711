#include "base/random_numpy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

namespace muster {
namespace {

// log of the gamma function as NumPy computes it (Zhang and Jin 1996): Stirling's series above 7.
double log_gamma(double x) {
  constexpr std::array<double, 10> kSeries = {
      8.333333333333333e-02, -2.777777777777778e-03, 7.936507936507937e-04, -5.952380952380952e-04,
      8.417508417508418e-04, -1.917526917526918e-03, 6.410256410256410e-03, -2.955065359477124e-02,
      1.796443723688307e-01, -1.39243221690590e+00};
  constexpr double kLogTwoPi = 1.8378770664093453;
  if (x == 1.0 || x == 2.0) return 0.0;
  const auto steps = x < 7.0 ? static_cast<std::int64_t>(7 - x) : 0;
  double x0 = x + static_cast<double>(steps);
  const double x2 = (1.0 / x0) * (1.0 / x0);
  double sum = kSeries[9];
  for (int k = 8; k >= 0; --k) {
    sum *= x2;
    sum += kSeries[static_cast<std::size_t>(k)];
  }
  double value = sum / x0 + 0.5 * kLogTwoPi + (x0 - 0.5) * std::log(x0) - x0;
  for (std::int64_t k = 1; k <= steps; ++k) {
    value -= std::log(x0 - 1.0);
    x0 -= 1.0;
  }
  return value;
}

// Cumulated chances, scaled so that the last is exactly one.
std::vector<double> cumulated(std::span<const double> chances) {
  std::vector<double> sums;
  double sum = 0;
  for (const double chance : chances) sums.push_back(sum += chance);
  for (double& value : sums) value /= sum;
  return sums;
}

std::size_t position_of(const std::vector<double>& sums, double u) {
  return static_cast<std::size_t>(std::upper_bound(sums.begin(), sums.end(), u) - sums.begin());
}

}  // namespace

std::uint64_t NumpyRandom::next_long() {
  const std::uint64_t high = twister_.next_word();
  return high << 32 | twister_.next_word();
}

std::uint64_t NumpyRandom::up_to(std::uint64_t most) {
  if (most == 0) return 0;
  const std::uint64_t mask = ~std::uint64_t{0} >> std::countl_zero(most);
  const bool one_word = most <= 0xffffffffU;
  std::uint64_t value = 0;
  do {
    value = (one_word ? twister_.next_word() : next_long()) & mask;
  } while (value > most);
  return value;
}

std::int64_t NumpyRandom::randint(std::int64_t low, std::int64_t high) {
  assert(low < high);
  const std::uint64_t most = static_cast<std::uint64_t>(high) - 1 - static_cast<std::uint64_t>(low);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + up_to(most));
}

double NumpyRandom::exponential(double scale) { return scale * -std::log(1.0 - random_sample()); }

double NumpyRandom::standard_normal() {
  if (next_normal_) {
    const double value = *next_normal_;
    next_normal_.reset();
    return value;
  }
  double x1 = 0;
  double x2 = 0;
  double square = 0;
  do {
    x1 = 2.0 * random_sample() - 1.0;
    x2 = 2.0 * random_sample() - 1.0;
    square = x1 * x1 + x2 * x2;
  } while (square >= 1.0 || square == 0.0);
  const double factor = std::sqrt(-2.0 * std::log(square) / square);
  next_normal_ = factor * x1;
  return factor * x2;
}

double NumpyRandom::lognormal(double mean, double deviation) {
  return std::exp(normal(mean, deviation));
}

std::int64_t NumpyRandom::poisson(double mean) {
  if (mean == 0) return 0;
  if (mean < 10) {  // multiply uniforms until the product falls below exp(-mean)
    const double limit = std::exp(-mean);
    std::int64_t count = 0;
    for (double product = random_sample(); product > limit; product *= random_sample()) ++count;
    return count;
  }
  // Hormann's transformed rejection, PTRS.
  const double log_mean = std::log(mean);
  const double b = 0.931 + 2.53 * std::sqrt(mean);
  const double a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  const double quick = 0.9277 - 3.6224 / (b - 2);
  while (true) {
    const double u = random_sample() - 0.5;
    const double v = random_sample();
    const double us = 0.5 - std::fabs(u);
    const auto k = static_cast<std::int64_t>(std::floor((2 * a / us + b) * u + mean + 0.43));
    if (us >= 0.07 && v <= quick) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    const auto count = static_cast<double>(k);
    if (std::log(v) + std::log(inverse_alpha) - std::log(a / (us * us) + b) <=
        -mean + count * log_mean - log_gamma(count + 1)) {
      return k;
    }
  }
}

std::size_t NumpyRandom::choice(std::span<const double> chances) {
  return position_of(cumulated(chances), random_sample());
}

std::vector<std::size_t> NumpyRandom::choice(std::span<const double> chances, std::size_t count) {
  const std::vector<double> sums = cumulated(chances);
  std::vector<std::size_t> chosen(count);
  for (std::size_t& position : chosen) position = position_of(sums, random_sample());
  return chosen;
}

std::vector<std::int64_t> NumpyRandom::permutation(std::int64_t size) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  shuffle(order);
  return order;
}

std::vector<std::int64_t> NumpyRandom::choice_distinct(std::int64_t size, std::size_t count) {
  std::vector<std::int64_t> order = permutation(size);
  assert(count <= order.size());
  order.resize(count);
  return order;
}

// Draws as many as are missing, keeps the first of each, removes their chances, and goes on.
std::vector<std::size_t> NumpyRandom::choice_distinct(std::span<const double> chances,
                                                      std::size_t count) {
  std::vector<double> left(chances.begin(), chances.end());
  std::vector<std::size_t> chosen;
  while (chosen.size() < count) {
    const std::size_t before = chosen.size();
    const std::vector<std::size_t> drawn = choice(left, count - before);
    for (const std::size_t position : drawn) {
      if (std::find(chosen.begin() + static_cast<std::ptrdiff_t>(before), chosen.end(), position) ==
          chosen.end()) {
        chosen.push_back(position);
      }
    }
    for (const std::size_t position : chosen) left[position] = 0;
  }
  return chosen;
}

}  // namespace muster
