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

// a0^2 - |(a1, a2)|^2.
inline double cone_square(const Triple& a) { return a[0] * a[0] - a[1] * a[1] - a[2] * a[2]; }

// By a number that should be positive, and counts as a little one where it hardly is.
inline double divide_safely(double a, double b) {
  constexpr double kLeast = 1e-13;
  return a / (b < kLeast ? kLeast : b);
}

inline Triple cone_product(const Triple& a, const Triple& b) {
  return {dot(a, b), a[0] * b[1] + b[0] * a[1], a[0] * b[2] + b[0] * a[2]};
}

// x with cone_product(a, x) = b.
inline Triple cone_quotient(const Triple& a, const Triple& b) {
  const double square = cone_square(a);
  const double inner = a[1] * b[1] + a[2] * b[2];
  const double factor = divide_safely(divide_safely(inner, a[0]) - b[0], square);
  return {divide_safely(a[0] * b[0] - inner, square), factor * a[1] + divide_safely(b[1], a[0]),
          factor * a[2] + divide_safely(b[2], a[0])};
}

// The longest step from `at` along `by` inside the cone: `by` as seen from the cone's axis, to
// which `at` is turned (Vandenberghe: The CVXOPT linear and quadratic cone program solvers).
inline double cone_step(const Triple& at, const Triple& by) {
  const double square = at[0] * at[0] - (at[1] * at[1] + at[2] * at[2]);
  if (!(square > 0)) return std::numeric_limits<double>::infinity();
  const double length = std::sqrt(square);
  const Triple unit = {at[0] / length, at[1] / length, at[2] / length};
  const double along = unit[0] * by[0] - unit[1] * by[1] - unit[2] * by[2];
  const double factor = (along + by[0]) / (unit[0] + 1);
  const double inverse = 1 / length;
  const double b = inverse * (by[1] - factor * unit[1]);
  const double c = inverse * (by[2] - factor * unit[2]);
  const double outward = std::sqrt(b * b + c * c) - inverse * along;
  return outward > 0 ? 1 / outward : std::numeric_limits<double>::infinity();
}

class ConeScaling {
 public:
  ConeScaling() = default;
  ConeScaling(const Triple& slack, const Triple& price) {
    const double s = std::sqrt(cone_square(slack));
    const double z = std::sqrt(cone_square(price));
    Triple one{};
    Triple other{};
    for (std::size_t i = 0; i < 3; ++i) {
      one[i] = divide_safely(slack[i], s);
      other[i] = divide_safely(price[i], z);
    }
    eta_square_ = divide_safely(s, z);
    eta_ = std::sqrt(eta_square_);
    double inner = 1;
    for (std::size_t i = 0; i < 3; ++i) inner += one[i] * other[i];
    const double half = divide_safely(0.5, std::sqrt(0.5 * inner));
    w_ = {half * (one[0] + other[0]), half * (one[1] - other[1]), half * (one[2] - other[2])};
  }
  // W x, which takes prices to the common point.
  Triple times(const Triple& x) const { return turn(x, 1, eta_); }
  // W^-1 x, which takes slacks there.
  Triple over(const Triple& x) const { return turn(x, -1, 1 / eta_); }

  // W^2 with few entries, for sparse equations: eta^2 (D + u u' - v v') with D = (first, 1, 1),
  // u = (head, out * w1, out * w2) and v = (0, in * w1, in * w2), from the paper on ECOS.
  struct Thin {
    double eta_square;
    double first;
    double head;
    double out;
    double in;
    double w1;
    double w2;
  };
  Thin thin() const {
    const double a = w_[0];
    const double square = w_[1] * w_[1] + w_[2] * w_[2];
    const double more = 1 + a;
    const double c = 1 + a + divide_safely(square, more);
    const double d = 1 + divide_safely(2, more) + divide_safely(square, more * more);
    const double first =
        std::max(0.0, 0.5 * (a * a + square * (1 - divide_safely(c * c, 1 + square * d))));
    const double head_square = a * a + square - first;
    const double out_square = divide_safely(c * c, head_square);
    return {eta_square_,
            first,
            std::sqrt(head_square),
            std::sqrt(out_square),
            std::sqrt(out_square - d),
            w_[1],
            w_[2]};
  }

 private:
  Triple turn(const Triple& x, double sign, double factor) const {
    const double inner = w_[1] * x[1] + w_[2] * x[2];
    const double along = sign * x[0] + inner / (1 + w_[0]);
    return {factor * (w_[0] * x[0] + sign * inner), factor * (x[1] + along * w_[1]),
            factor * (x[2] + along * w_[2])};
  }
  Triple w_ = {1, 0, 0};
  double eta_ = 1;
  double eta_square_ = 1;
};

}  // namespace muster
