#include "base/random.h"

#include <algorithm>
#include <cassert>

namespace muster {
namespace {

constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15U;  // 2^64 / golden ratio, splitmix64's step

}  // namespace

std::uint64_t mix_bits(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31);
}

std::uint64_t stable_hash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char letter : text) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
  }
  return hash;
}

Random::Random(std::uint64_t seed, std::string_view purpose) {
  std::uint64_t counter = mix_bits(seed + kGolden) ^ stable_hash(purpose);
  for (std::uint64_t& word : state_) word = mix_bits(counter += kGolden);
}

// Lemire 2019: the high half of a product; a draw is repeated only in the few cases that would bias
// it.
std::uint64_t Random::below(std::uint64_t count) {
  assert(count > 0);
  __extension__ using Wide = unsigned __int128;
  Wide product = static_cast<Wide>(next()) * count;
  if (static_cast<std::uint64_t>(product) < count) {
    const std::uint64_t threshold = (0 - count) % count;
    while (static_cast<std::uint64_t>(product) < threshold)
      product = static_cast<Wide>(next()) * count;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

std::int64_t Random::integer(std::int64_t least, std::int64_t most) {
  assert(least <= most);
  const std::uint64_t count =
      static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(least) + 1;
  const std::uint64_t offset = count == 0 ? next() : below(count);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(least) + offset);
}

double Random::normal(double mean, double deviation) {
  if (!std::isnan(next_normal_)) {
    const double value = next_normal_;
    next_normal_ = std::numeric_limits<double>::quiet_NaN();
    return mean + deviation * value;
  }
  double x = 0;
  double y = 0;
  double square = 0;
  do {
    x = 2.0 * unit() - 1.0;
    y = 2.0 * unit() - 1.0;
    square = x * x + y * y;
  } while (square >= 1.0 || square == 0.0);
  const double factor = std::sqrt(-2.0 * std::log(square) / square);
  next_normal_ = factor * y;
  return mean + deviation * factor * x;
}

// Marsaglia and Tsang 2000; a shape below one is lifted by one and brought back by a power of a
// uniform.
double Random::gamma(double shape, double scale) {
  assert(shape > 0);
  if (shape < 1) {
    const double lifted = gamma(shape + 1, scale);
    return lifted * std::pow(open_unit(), 1.0 / shape);
  }
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  while (true) {
    const double x = normal(0, 1);
    const double root = 1.0 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    const double u = open_unit();
    if (std::log(u) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v * scale;
  }
}

double Random::log_uniform(double low, double high) { return std::pow(10.0, uniform(low, high)); }

// Large means are split in two halves until the product method is safe and short: a sum of Poisson
// counts is a Poisson count.
std::int64_t Random::poisson(double mean) {
  assert(mean >= 0);
  if (mean > 1e6) {
    return std::max<std::int64_t>(
        0, static_cast<std::int64_t>(std::llround(normal(mean, std::sqrt(mean)))));
  }
  std::int64_t count = 0;
  while (mean > 0) {
    const double part = std::min(mean, 30.0);
    mean -= part;
    const double limit = std::exp(-part);
    for (double product = open_unit(); product > limit; product *= open_unit()) ++count;
  }
  return count;
}

WeightedChoice::WeightedChoice(std::span<const double> weights) {
  double sum = 0;
  for (const double weight : weights) {
    assert(std::isfinite(weight) && weight >= 0);
    sum += weight;
  }
  assert(sum > 0);
  const std::size_t size = weights.size();
  keep_.assign(size, 1.0);
  other_.resize(size);
  std::vector<double> scaled(size);
  std::vector<std::size_t> small;
  std::vector<std::size_t> large;
  for (std::size_t i = 0; i < size; ++i) {
    other_[i] = i;
    scaled[i] = weights[i] / sum * static_cast<double>(size);
    (scaled[i] < 1.0 ? small : large).push_back(i);
  }
  while (!small.empty() && !large.empty()) {
    const std::size_t low = small.back();
    const std::size_t high = large.back();
    small.pop_back();
    keep_[low] = scaled[low];
    other_[low] = high;
    scaled[high] -= 1.0 - scaled[low];
    if (scaled[high] < 1.0) {
      large.pop_back();
      small.push_back(high);
    }
  }
  // Rounding may leave columns over. They are full to within rounding, unless their weight is zero.
  const auto heaviest =
      static_cast<std::size_t>(std::max_element(weights.begin(), weights.end()) - weights.begin());
  for (const std::size_t i : small) {
    if (weights[i] > 0) continue;
    keep_[i] = 0;
    other_[i] = heaviest;
  }
}

}  // namespace muster
