#include "run/sweep/statistics.h"

#include <cassert>
#include <cmath>
#include <limits>
#include <vector>

namespace muster {
namespace {

// The continued fraction of the incomplete beta function, by Lentz's method.
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr int kMostSteps = 500;
  double c = 1;
  double d = 1 - (a + b) * x / (a + 1);
  d = 1 / (std::abs(d) < kTiny ? kTiny : d);
  double result = d;
  for (int m = 1; m <= kMostSteps; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double change = 1;
    for (const double term : {even, odd}) {
      d = 1 + term * d;
      d = 1 / (std::abs(d) < kTiny ? kTiny : d);
      c = 1 + term / c;
      if (std::abs(c) < kTiny) c = kTiny;
      change = c * d;
      result *= change;
    }
    if (std::abs(change - 1) < 1e-15) break;
  }
  return result;
}

// The regularised incomplete beta function I_x(a, b).
double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  // The fraction converges fast only on one side of the mean.
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double student_t_below(double t, double degrees) {
  const double tail = 0.5 * incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t));
  return t >= 0 ? 1 - tail : tail;
}

}  // namespace

double student_t_quantile(double p, double degrees) {
  assert(p > 0 && p < 1 && degrees >= 1);
  if (p < 0.5) return -student_t_quantile(1 - p, degrees);
  double low = 0;
  double high = 1;
  while (student_t_below(high, degrees) < p) high *= 2;
  for (int i = 0; i < 200 && low < high; ++i) {
    const double middle = low + (high - low) / 2;
    if (middle == low || middle == high) break;
    (student_t_below(middle, degrees) < p ? low : high) = middle;
  }
  return low + (high - low) / 2;
}

Interval mean_interval(std::span<const double> values, double confidence) {
  Interval interval;
  interval.count = values.size();
  interval.half_width = std::numeric_limits<double>::quiet_NaN();
  if (values.empty()) {
    interval.mean = std::numeric_limits<double>::quiet_NaN();
    return interval;
  }
  const auto n = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += value;
  interval.mean = sum / n;
  if (values.size() < 2) return interval;
  double squares = 0;
  for (const double value : values) squares += (value - interval.mean) * (value - interval.mean);
  const double error = std::sqrt(squares / (n - 1) / n);
  interval.half_width = student_t_quantile(0.5 + confidence / 2, n - 1) * error;
  return interval;
}

Interval paired_interval(std::span<const double> values, std::span<const double> baseline,
                         double confidence) {
  assert(values.size() == baseline.size());
  std::vector<double> differences(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) differences[i] = values[i] - baseline[i];
  return mean_interval(differences, confidence);
}

}  // namespace muster
