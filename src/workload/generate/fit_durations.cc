// Maximum likelihood for four families of distributions, and the distance of each from the data.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>

#include "workload/generate/fit.h"

namespace muster {
namespace {

// The first two derivatives of log gamma: shifted up to 10, then their asymptotic series.
double digamma(double x) {
  double shift = 0;
  for (; x < 10; ++x) shift -= 1 / x;
  const double y = 1 / (x * x);
  return shift + std::log(x) - 0.5 / x - y * (1.0 / 12 - y * (1.0 / 120 - y / 252));
}

double trigamma(double x) {
  double shift = 0;
  for (; x < 10; ++x) shift += 1 / (x * x);
  const double y = 1 / (x * x);
  return shift + 1 / x + y / 2 + y / x * (1.0 / 6 - y * (1.0 / 30 - y / 42));
}

struct Sums {
  double count = 0;
  double mean = 0;
  double mean_log = 0;
  double deviation_log = 0;
  double highest_log = 0;
};

Sums sums_of(const std::vector<double>& values, const std::vector<double>& logs) {
  Sums sums;
  sums.count = static_cast<double>(values.size());
  for (const double value : values) sums.mean += value / sums.count;
  for (const double log : logs) sums.mean_log += log / sums.count;
  double squares = 0;
  for (const double log : logs) squares += (log - sums.mean_log) * (log - sums.mean_log);
  sums.deviation_log = std::sqrt(squares / sums.count);
  sums.highest_log = *std::max_element(logs.begin(), logs.end());
  return sums;
}

FittedFamily fit_exponential(const Sums& sums) {
  return {Distribution::exponential(sums.mean), -sums.count * (std::log(sums.mean) + 1)};
}

FittedFamily fit_log_normal(const Sums& sums) {
  const double sigma = sums.deviation_log;
  const double likelihood =
      -sums.count * (sums.mean_log + std::log(sigma) + 0.5 * std::log(2 * std::numbers::pi) + 0.5);
  return {Distribution::log_normal(sums.mean_log, sigma), likelihood};
}

// Newton's method on the one equation that the shape must solve; powers are taken relative to the
// largest value, so that nothing overflows.
FittedFamily fit_weibull(const Sums& sums, const std::vector<double>& logs) {
  double shape = std::numbers::pi / std::sqrt(6.0) / sums.deviation_log;
  double power_mean = 0;
  for (int round = 0; round < 100; ++round) {
    double s0 = 0;
    double s1 = 0;
    double s2 = 0;
    for (const double log : logs) {
      const double relative = log - sums.highest_log;
      const double power = std::exp(shape * relative);
      s0 += power;
      s1 += power * relative;
      s2 += power * relative * relative;
    }
    power_mean = s0 / sums.count;
    const double error = s1 / s0 - 1 / shape - (sums.mean_log - sums.highest_log);
    const double slope = (s2 * s0 - s1 * s1) / (s0 * s0) + 1 / (shape * shape);
    const double next = std::max(shape / 3, shape - error / slope);
    const bool converged = std::abs(next - shape) < 1e-10 * shape;
    shape = next;
    if (converged) break;
  }
  const double log_scale = sums.highest_log + std::log(power_mean) / shape;
  const double likelihood =
      sums.count * (std::log(shape) - shape * log_scale + (shape - 1) * sums.mean_log - 1);
  return {Distribution::weibull(shape, std::exp(log_scale)), likelihood};
}

FittedFamily fit_gamma(const Sums& sums) {
  const double s = std::log(sums.mean) - sums.mean_log;  // above 0 unless all values are equal
  double shape = (3 - s + std::sqrt((s - 3) * (s - 3) + 24 * s)) / (12 * s);
  for (int round = 0; round < 100; ++round) {
    const double step = (std::log(shape) - digamma(shape) - s) / (1 / shape - trigamma(shape));
    const double next = std::max(shape / 3, shape - step);
    const bool converged = std::abs(next - shape) < 1e-12 * shape;
    shape = next;
    if (converged) break;
  }
  const double scale = sums.mean / shape;
  const double likelihood = sums.count * ((shape - 1) * sums.mean_log - shape -
                                          shape * std::log(scale) - std::lgamma(shape));
  return {Distribution::gamma(shape, scale), likelihood};
}

// Sorted values; equal ones are one step of the trace's curve. Long lists are looked at in at most
// 20,000 places, which can miss the largest distance by one in 20,000.
double distance_of(const Distribution& distribution, const std::vector<double>& sorted) {
  constexpr std::size_t kPlaces = 20000;
  const auto count = static_cast<double>(sorted.size());
  const std::size_t stride = sorted.size() / kPlaces;
  double distance = 0;
  std::size_t looked = 0;
  for (std::size_t begin = 0; begin < sorted.size();) {
    std::size_t end = begin + 1;
    while (end < sorted.size() && sorted[end] == sorted[begin]) ++end;
    if (begin == 0 || end - looked >= stride) {
      const double share = 1 - distribution.survival(sorted[begin]);
      distance = std::max({distance, share - static_cast<double>(begin) / count,
                           static_cast<double>(end) / count - share});
      looked = end;
    }
    begin = end;
  }
  return distance;
}

}  // namespace

std::vector<FittedFamily> fit_durations(std::vector<double> values) {
  assert(!values.empty());
  std::sort(values.begin(), values.end());
  assert(values.front() > 0);
  if (values.front() == values.back()) return {{Distribution::constant(values.front()), 0, 0}};
  std::vector<double> logs(values.size());
  std::transform(values.begin(), values.end(), logs.begin(),
                 [](double value) { return std::log(value); });
  const Sums sums = sums_of(values, logs);
  std::vector<FittedFamily> families = {fit_exponential(sums), fit_log_normal(sums),
                                        fit_weibull(sums, logs), fit_gamma(sums)};
  for (FittedFamily& family : families) family.distance = distance_of(family.distribution, values);
  std::stable_sort(
      families.begin(), families.end(),
      [](const FittedFamily& a, const FittedFamily& b) { return a.distance < b.distance; });
  return families;
}

}  // namespace muster
