// Numbers that count as one: the published simulators merge moments that differ by rounding.
#pragma once

#include <algorithm>
#include <cmath>

namespace muster {

struct Closeness {
  double relative = 0;
  double absolute = 0;
  bool close(double a, double b) const {
    if (a == b) return true;
    const double apart = std::abs(a - b);
    return std::isfinite(apart) &&
           apart <= std::max(relative * std::max(std::abs(a), std::abs(b)), absolute);
  }
};

}  // namespace muster
