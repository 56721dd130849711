#include "backend/sim/progress_rule.h"

#include <algorithm>
#include <cmath>

namespace muster {
namespace {

double count_down(double left, double rate, long long seconds) {
  // Taking away one is exact, however often.
  if (rate == 1) return left - static_cast<double>(seconds);
  for (long long i = 0; i < seconds; ++i) left -= rate;
  return left;
}

}  // namespace

double Countdown::left_at(Seconds now) const {
  return count_down(left, rate, std::llround(std::max(0.0, now - since)));
}

Seconds Countdown::end() const {
  if (left <= 0) return since + 1;
  const double exact = left / rate;
  double seconds = std::ceil(exact);
  // Each step rounds: where that could decide about a whole second, count as the loop does.
  constexpr double kRoundingOfStep = 2.3e-16;
  const double doubt = (seconds + 2) * left * kRoundingOfStep / rate;
  if (rate != 1 && std::abs(exact - std::round(exact)) <= doubt) {
    seconds = std::max(0.0, std::floor(exact - 2 * doubt) - 1);
    double rest = count_down(left, rate, std::llround(seconds));
    for (; rest > 0; ++seconds) rest -= rate;
  }
  return since + seconds + 1;
}

}  // namespace muster
