#include "workload/generate/distribution.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/text.h"

namespace muster {

// Numerical Recipes' division of labour: the series below shape + 1, the continued fraction above.
double gamma_portion(double shape, double x) {
  if (x <= 0) return 0;
  if (std::isinf(x)) return 1;
  constexpr double kSmall = 1e-15;
  constexpr int kMostSteps = 10000;
  const double front = std::exp(shape * std::log(x) - x - std::lgamma(shape));
  if (x < shape + 1) {
    double term = 1 / shape;
    double sum = term;
    for (int i = 1; i < kMostSteps && term > sum * kSmall; ++i) {
      term *= x / (shape + i);
      sum += term;
    }
    return std::min(1.0, front * sum);
  }
  constexpr double kTiny = 1e-300;
  double b = x + 1 - shape;
  double c = 1 / kTiny;
  double d = 1 / b;
  double fraction = d;
  for (int i = 1; i < kMostSteps; ++i) {
    const double a = -i * (i - shape);
    b += 2;
    d = a * d + b;
    if (std::abs(d) < kTiny) d = kTiny;
    c = b + a / c;
    if (std::abs(c) < kTiny) c = kTiny;
    d = 1 / d;
    const double factor = d * c;
    fraction *= factor;
    if (std::abs(factor - 1) < kSmall) break;
  }
  return std::clamp(1 - front * fraction, 0.0, 1.0);
}

Result<Distribution> Distribution::of_mean(std::string_view name, double mean, double shape) {
  const auto wrong = [&](std::string_view expected) {
    return Error{fmt::format("a {} duration needs a 'shape' {}, but it is {}", name, expected,
                             exact_text(shape))};
  };
  if (name == "constant") return constant(mean);
  if (name == "exponential") return exponential(mean);
  if (!(shape > 0)) return wrong("above 0");
  if (name == "lognormal") return log_normal(std::log(mean) - shape * shape / 2, shape);
  if (name == "weibull") return weibull(shape, mean / std::tgamma(1 + 1 / shape));
  if (name == "gamma") return gamma(shape, mean / shape);
  if (name == "pareto") {
    if (shape <= 1) return wrong("above 1 (at 1 and below its mean is infinite)");
    return pareto(shape, mean * (shape - 1) / shape);
  }
  if (name == "uniform") {
    if (shape > 1) return wrong("of at most 1 (the half width as a part of the mean)");
    return uniform(mean * (1 - shape), mean * (1 + shape));
  }
  if (name == "loguniform") {
    const double ratio = std::pow(10, shape);
    const double low = mean * std::log(ratio) / (ratio - 1);
    return log_uniform(low, low * ratio);
  }
  constexpr std::string_view kNames[] = {"constant", "exponential", "lognormal", "weibull",
                                         "gamma",    "pareto",      "uniform",   "loguniform"};
  return Error{unknown_name("distribution", name, kNames)};
}

double Distribution::draw(Random& random) const {
  switch (kind_) {
    case DistributionKind::kConstant:
      return a_;
    case DistributionKind::kUniform:
      return random.uniform(a_, b_);
    case DistributionKind::kLogUniform:
      return a_ * std::pow(b_ / a_, random.unit());
    case DistributionKind::kExponential:
      return random.exponential(a_);
    case DistributionKind::kLogNormal:
      return random.log_normal(a_, b_);
    case DistributionKind::kWeibull:
      return random.weibull(a_, b_);
    case DistributionKind::kGamma:
      return random.gamma(a_, b_);
    case DistributionKind::kPareto:
      return random.pareto(a_, b_);
  }
  return 0;
}

double Distribution::survival(double x) const {
  const bool two_sided = kind_ == DistributionKind::kConstant ||
                         kind_ == DistributionKind::kUniform ||
                         kind_ == DistributionKind::kLogUniform;
  if (two_sided) {
    if (x < a_) return 1;
    if (x >= b_) return 0;
    if (kind_ == DistributionKind::kUniform) return (b_ - x) / (b_ - a_);
    return std::log(b_ / x) / std::log(b_ / a_);
  }
  if (kind_ == DistributionKind::kPareto) return x <= b_ ? 1 : std::pow(b_ / x, a_);
  if (x <= 0) return 1;
  switch (kind_) {
    case DistributionKind::kExponential:
      return std::exp(-x / a_);
    case DistributionKind::kLogNormal:
      return 0.5 * std::erfc((std::log(x) - a_) / (b_ * std::sqrt(2.0)));
    case DistributionKind::kWeibull:
      return std::exp(-std::pow(x / b_, a_));
    default:
      return 1 - gamma_portion(a_, x / b_);
  }
}

// least + the integral of the survival function from least to most, by Simpson's rule over log x.
double Distribution::clamped_mean(double least, double most) const {
  if (kind_ == DistributionKind::kConstant) return std::clamp(a_, least, most);
  if (kind_ == DistributionKind::kPareto && a_ <= 1 && std::isinf(most)) return most;
  constexpr double kNothing = 1e-13;
  const double low = std::max(least, 1e-9);
  double high = std::max(low * 2, 1.0);
  const double ceiling = std::min(most, 1e300);
  while (high < ceiling && survival(high) * high > kNothing * low) high *= 2;
  high = std::min(high, ceiling);
  if (high <= low) return std::clamp(low, least, most);
  constexpr int kSteps = 20000;
  const double from = std::log(low);
  const double step = (std::log(high) - from) / kSteps;
  double sum = 0;
  for (int i = 0; i <= kSteps; ++i) {
    const double x = std::exp(from + i * step);
    const int weight = i == 0 || i == kSteps ? 1 : (i % 2 == 1 ? 4 : 2);
    sum += weight * survival(x) * x;
  }
  return low + sum * step / 3;
}

std::string Distribution::text() const {
  switch (kind_) {
    case DistributionKind::kConstant:
      return fmt::format("constant({:.6g})", a_);
    case DistributionKind::kUniform:
      return fmt::format("uniform({:.6g} to {:.6g})", a_, b_);
    case DistributionKind::kLogUniform:
      return fmt::format("loguniform({:.6g} to {:.6g})", a_, b_);
    case DistributionKind::kExponential:
      return fmt::format("exponential(mean {:.6g})", a_);
    case DistributionKind::kLogNormal:
      return fmt::format("lognormal(mu {:.6g}, sigma {:.6g})", a_, b_);
    case DistributionKind::kWeibull:
      return fmt::format("weibull(shape {:.6g}, scale {:.6g})", a_, b_);
    case DistributionKind::kGamma:
      return fmt::format("gamma(shape {:.6g}, scale {:.6g})", a_, b_);
    case DistributionKind::kPareto:
      return fmt::format("pareto(shape {:.6g}, least {:.6g})", a_, b_);
  }
  return {};
}

}  // namespace muster
