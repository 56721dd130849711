// The cone of three numbers a >= |(b, c)|, as interior point methods use it: its product and
// division, how far one can go inside it, and the scaling of Nesterov and Todd, which takes a slack
// and its price to the same point.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace muster {

using Triple = std::array<double, 3>;

inline double dot(const Triple& a, const Triple& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// a0^2 - |(a1, a2)|^2, as a product that keeps its digits near the border.
inline double cone_square(const Triple& a) {
  const double length = std::hypot(a[1], a[2]);
  return (a[0] - length) * (a[0] + length);
}

inline Triple cone_product(const Triple& a, const Triple& b) {
  return {dot(a, b), a[0] * b[1] + b[0] * a[1], a[0] * b[2] + b[0] * a[2]};
}

// x with cone_product(a, x) = b.
inline Triple cone_quotient(const Triple& a, const Triple& b) {
  const double inner = a[1] * b[1] + a[2] * b[2];
  const double first = (a[0] * b[0] - inner) / cone_square(a);
  return {first, (b[1] - first * a[1]) / a[0], (b[2] - first * a[2]) / a[0]};
}

// The longest step from `at` along `by` inside the cone.
inline double cone_step(const Triple& at, const Triple& by) {
  const double q = cone_square(by);
  const double p = at[0] * by[0] - at[1] * by[1] - at[2] * by[2];
  const double r = cone_square(at);
  // The least positive root of q t^2 + 2 p t + r.
  constexpr double kFar = std::numeric_limits<double>::infinity();
  const double under = p * p - q * r;
  if (under < 0) return kFar;
  const double root = std::sqrt(under);
  double least = kFar;
  const double sum = -(p + std::copysign(root, p));
  for (const double t : {sum / q, r / sum}) {
    if (t > 0) least = std::min(least, t);
  }
  if (by[0] < 0) least = std::min(least, -at[0] / by[0]);
  return least;
}

class ConeScaling {
 public:
  ConeScaling() = default;
  ConeScaling(const Triple& slack, const Triple& price) {
    const double s = std::sqrt(cone_square(slack));
    const double z = std::sqrt(cone_square(price));
    const double inner = dot(slack, price) / (s * z);
    const double half = 2 * std::sqrt((1 + inner) / 2);
    w_ = {(slack[0] / s + price[0] / z) / half, (slack[1] / s - price[1] / z) / half,
          (slack[2] / s - price[2] / z) / half};
    eta_ = std::sqrt(s / z);
  }
  // W x, which takes prices to the common point.
  Triple times(const Triple& x) const { return turn(x, 1, eta_); }
  // W^-1 x, which takes slacks there.
  Triple over(const Triple& x) const { return turn(x, -1, 1 / eta_); }

 private:
  Triple turn(const Triple& x, double sign, double factor) const {
    const double inner = w_[1] * x[1] + w_[2] * x[2];
    const double along = sign * x[0] + inner / (1 + w_[0]);
    return {factor * (w_[0] * x[0] + sign * inner), factor * (x[1] + along * w_[1]),
            factor * (x[2] + along * w_[2])};
  }
  Triple w_ = {1, 0, 0};
  double eta_ = 1;
};

}  // namespace muster
