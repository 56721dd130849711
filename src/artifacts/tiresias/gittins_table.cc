#include "artifacts/tiresias/gittins_table.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace muster {
namespace {

double index_at(const DurationSample& sample, double attained) {
  const std::size_t n = sample.size();
  const std::size_t from = sample.first_above(attained);
  const double ahead = attained + sample.delta();
  const std::size_t to = ahead > sample.duration(n - 1) - 1 ? n - 1 : sample.first_above(ahead);
  const auto left = static_cast<double>(n - from);
  const double chance = rounded(static_cast<double>(to - std::min(from, to)) / left, 5);
  const double service = std::floor(
      (sample.sum(from, std::max(from, to)) + sample.delta() * static_cast<double>(n - to)) / left);
  constexpr double kScale = 1e6;
  return service > 0 ? rounded(chance * kScale / service, 4) : 0;
}

}  // namespace

double gittins_as_coded(const DurationSample& sample, double attained) {
  const std::size_t next = sample.first_above(std::floor(attained));
  return next < sample.size() ? index_at(sample, sample.duration(next) - 1) : 0;
}

}  // namespace muster
