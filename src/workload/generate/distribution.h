// Distributions of durations: drawn from in generators, compared with traces in fits.
//
// A distribution is a small value. Times are in seconds, but nothing here depends on it.
#pragma once

#include <string>
#include <string_view>

#include "base/random.h"
#include "base/result.h"

namespace muster {

enum class DistributionKind {
  kConstant,
  kUniform,
  kLogUniform,
  kExponential,
  kLogNormal,
  kWeibull,
  kGamma,
  kPareto,
};

class Distribution {
 public:
  static Distribution constant(double value) { return {DistributionKind::kConstant, value, value}; }
  static Distribution uniform(double low, double high) {
    return {DistributionKind::kUniform, low, high};
  }
  static Distribution log_uniform(double low, double high) {
    return {DistributionKind::kLogUniform, low, high};
  }
  static Distribution exponential(double mean) { return {DistributionKind::kExponential, mean, 0}; }
  static Distribution log_normal(double mu, double sigma) {
    return {DistributionKind::kLogNormal, mu, sigma};
  }
  static Distribution weibull(double shape, double scale) {
    return {DistributionKind::kWeibull, shape, scale};
  }
  static Distribution gamma(double shape, double scale) {
    return {DistributionKind::kGamma, shape, scale};
  }
  static Distribution pareto(double shape, double least) {
    return {DistributionKind::kPareto, shape, least};
  }

  // By name, mean and one shape number, as users give them: the sigma of log-normal; the shape of
  // Weibull, gamma and Pareto; for uniform the half width as a part of the mean; for log-uniform
  // the width in powers of ten. Constant and exponential have none.
  static Result<Distribution> of_mean(std::string_view name, double mean, double shape);

  DistributionKind kind() const { return kind_; }
  double first() const { return a_; }
  double second() const { return b_; }

  double draw(Random& random) const;
  // The chance of a value above x.
  double survival(double x) const;
  // The mean when values below `least` become `least` and those above `most` become `most`;
  // infinite if so.
  double clamped_mean(double least, double most) const;
  // "lognormal(mu 6.72, sigma 1.97)"
  std::string text() const;

 private:
  Distribution(DistributionKind kind, double a, double b) : kind_(kind), a_(a), b_(b) {}

  DistributionKind kind_;
  double a_;
  double b_;
};

// The regularised lower incomplete gamma function P(shape, x).
double gamma_portion(double shape, double x);

}  // namespace muster
