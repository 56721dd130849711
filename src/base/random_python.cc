#include "base/random_python.h"

#include <algorithm>
#include <array>
#include <bit>
#include <set>

namespace muster {
namespace {

constexpr double kE = 2.718281828459045;
constexpr double kTwoPi = 6.283185307179586;

}  // namespace

PythonRandom::PythonRandom(std::int64_t seed) {
  const std::uint64_t magnitude =
      seed < 0 ? ~static_cast<std::uint64_t>(seed) + 1 : static_cast<std::uint64_t>(seed);
  const std::array<std::uint32_t, 2> digits = {static_cast<std::uint32_t>(magnitude),
                                               static_cast<std::uint32_t>(magnitude >> 32)};
  twister_.seed_with_key(std::span(digits).first(digits[1] == 0 ? 1 : 2));
}

PythonRandom::PythonRandom(std::span<const std::uint32_t> digits) {
  // Python drops leading zeros, but keeps one digit of a zero.
  while (digits.size() > 1 && digits.back() == 0) digits = digits.first(digits.size() - 1);
  constexpr std::uint32_t kZero = 0;
  twister_.seed_with_key(digits.empty() ? std::span(&kZero, 1) : digits);
}

std::uint64_t PythonRandom::getrandbits(int bits) {
  assert(bits >= 1 && bits <= 64);
  if (bits <= 32) return twister_.next_word() >> (32 - bits);
  const std::uint64_t low = twister_.next_word();
  const std::uint64_t high = twister_.next_word() >> (64 - bits);
  return high << 32 | low;
}

std::uint64_t PythonRandom::randbelow(std::uint64_t count) {
  assert(count > 0);
  const int bits = 64 - std::countl_zero(count);
  std::uint64_t value = getrandbits(bits);
  while (value >= count) value = getrandbits(bits);
  return value;
}

std::int64_t PythonRandom::randint(std::int64_t least, std::int64_t most) {
  assert(least <= most);
  const std::uint64_t count =
      static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(least) + 1;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(least) + randbelow(count));
}

std::int64_t PythonRandom::randrange(std::int64_t start, std::int64_t stop, std::int64_t step) {
  assert(step != 0 && (step > 0 ? start < stop : start > stop));
  const std::int64_t count =
      step > 0 ? (stop - start + step - 1) / step : (stop - start + step + 1) / step;
  return start + step * static_cast<std::int64_t>(randbelow(static_cast<std::uint64_t>(count)));
}

double PythonRandom::triangular(double low, double high, std::optional<double> mode) {
  double u = random();
  if (mode && high == low) return low;
  double c = mode ? (*mode - low) / (high - low) : 0.5;
  if (u > c) {
    u = 1.0 - u;
    c = 1.0 - c;
    std::swap(low, high);
  }
  return low + (high - low) * std::sqrt(u * c);
}

double PythonRandom::expovariate(double rate) { return -std::log(1.0 - random()) / rate; }

double PythonRandom::gauss(double mean, double deviation) {
  double z = 0;
  if (next_gauss_) {
    z = *next_gauss_;
    next_gauss_.reset();
  } else {
    const double angle = random() * kTwoPi;
    const double radius = std::sqrt(-2.0 * std::log(1.0 - random()));
    z = std::cos(angle) * radius;
    next_gauss_ = std::sin(angle) * radius;
  }
  return mean + z * deviation;
}

// Kinderman and Monahan's ratio of uniforms.
double PythonRandom::normalvariate(double mean, double deviation) {
  const double magic = 4 * std::exp(-0.5) / std::sqrt(2.0);
  while (true) {
    const double u1 = random();
    const double u2 = 1.0 - random();
    const double z = magic * (u1 - 0.5) / u2;
    if (z * z / 4.0 <= -std::log(u2)) return mean + z * deviation;
  }
}

double PythonRandom::lognormvariate(double mean, double deviation) {
  return std::exp(normalvariate(mean, deviation));
}

double PythonRandom::paretovariate(double shape) {
  const double u = 1.0 - random();
  return std::pow(u, -1.0 / shape);
}

double PythonRandom::weibullvariate(double scale, double shape) {
  const double u = 1.0 - random();
  return scale * std::pow(-std::log(u), 1.0 / shape);
}

double PythonRandom::gammavariate(double shape, double scale) {
  assert(shape > 0 && scale > 0);
  if (shape == 1.0) return -std::log(1.0 - random()) * scale;
  if (shape > 1.0) {  // Cheng 1977, GA
    const double inverse = std::sqrt(2.0 * shape - 1.0);
    const double b = shape - std::log(4.0);
    const double c = shape + inverse;
    const double magic = 1.0 + std::log(4.5);
    while (true) {
      const double u1 = random();
      if (!(u1 > 1e-7 && u1 < 0.9999999)) continue;
      const double u2 = 1.0 - random();
      const double v = std::log(u1 / (1.0 - u1)) / inverse;
      const double x = shape * std::exp(v);
      const double z = u1 * u1 * u2;
      const double r = b + c * v - x;
      if (r + magic - 4.5 * z >= 0.0 || r >= std::log(z)) return x * scale;
    }
  }
  while (true) {  // Ahrens and Dieter 1974, GS
    const double u = random();
    const double b = (kE + shape) / kE;
    const double p = b * u;
    const double x = p <= 1.0 ? std::pow(p, 1.0 / shape) : -std::log((b - p) / shape);
    const double u1 = random();
    const bool taken = p > 1.0 ? u1 <= std::pow(x, shape - 1.0) : u1 <= std::exp(-x);
    if (taken) return x * scale;
  }
}

double PythonRandom::betavariate(double alpha, double beta) {
  const double y = gammavariate(alpha, 1.0);
  return y != 0 ? y / (y + gammavariate(beta, 1.0)) : 0.0;
}

std::vector<std::size_t> PythonRandom::choices(std::size_t size, std::size_t count) {
  assert(size > 0);
  std::vector<std::size_t> chosen(count);
  for (std::size_t& position : chosen) {
    position = static_cast<std::size_t>(random() * static_cast<double>(size));
  }
  return chosen;
}

std::vector<std::size_t> PythonRandom::choices(std::span<const double> weights, std::size_t count) {
  assert(!weights.empty());
  std::vector<double> sums;
  double sum = 0;
  for (const double weight : weights) sums.push_back(sum += weight);
  std::vector<std::size_t> chosen(count);
  for (std::size_t& position : chosen) {
    // Python's bisect stops before the last item, so that rounding can never point past it.
    position = static_cast<std::size_t>(
        std::upper_bound(sums.begin(), sums.end() - 1, random() * sum) - sums.begin());
  }
  return chosen;
}

std::vector<std::size_t> PythonRandom::sample(std::size_t size, std::size_t count) {
  assert(count <= size);
  // Python chooses the cheaper of two ways by the memory they would take there, and the two draw
  // differently.
  double limit = 21;
  if (count > 5) {
    limit += std::pow(4.0, std::ceil(std::log(static_cast<double>(count) * 3) / std::log(4.0)));
  }
  std::vector<std::size_t> chosen(count);
  if (static_cast<double>(size) <= limit) {
    std::vector<std::size_t> pool(size);
    for (std::size_t i = 0; i < size; ++i) pool[i] = i;
    for (std::size_t i = 0; i < count; ++i) {
      const auto j = static_cast<std::size_t>(randbelow(size - i));
      chosen[i] = pool[j];
      pool[j] = pool[size - i - 1];
    }
    return chosen;
  }
  std::set<std::size_t> seen;
  for (std::size_t& position : chosen) {
    do {
      position = static_cast<std::size_t>(randbelow(size));
    } while (!seen.insert(position).second);
  }
  return chosen;
}

}  // namespace muster
