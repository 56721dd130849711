#include "policy/tiresias/duration_sample.h"

#include <algorithm>
#include <limits>

#include "base/text.h"

namespace muster {
namespace {

// GPU-seconds that count as nothing: rounding may leave a job a hair short of a duration that it
// was given the time to reach.
constexpr double kHair = 1e-5;

}  // namespace

void DurationSample::read(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find_first_of(", \t\r\n;", at), text.size());
    const auto value = parse_real(text.substr(at, end - at));
    if (value && *value > 0) sorted_.push_back(*value);
    at = end + 1;
  }
  fresh_ = false;
}

void DurationSample::add(double duration) {
  if (!(duration > 0)) return;
  sorted_.push_back(duration);
  fresh_ = false;
}

void DurationSample::refresh() const {
  if (fresh_) return;
  fresh_ = true;
  std::sort(sorted_.begin(), sorted_.end());
  sums_.assign(1, 0);
  for (const double value : sorted_) sums_.push_back(sums_.back() + value);
}

std::size_t DurationSample::position_above(double value) const {
  return static_cast<std::size_t>(std::upper_bound(sorted_.begin(), sorted_.end(), value) -
                                  sorted_.begin());
}

std::size_t DurationSample::first_above(double value) const {
  refresh();
  return position_above(value);
}

double DurationSample::duration(std::size_t at) const {
  refresh();
  return sorted_[at];
}

double DurationSample::sum(std::size_t from, std::size_t to) const {
  refresh();
  return sums_[to] - sums_[from];
}

double DurationSample::gittins(double attained) const {
  refresh();
  const std::size_t from = position_above(attained + kHair);
  const std::size_t to = position_above(attained + kHair + delta_);
  if (from == to) return 0;
  const auto ending = static_cast<double>(to - from);
  const double service = sums_[to] - sums_[from] - ending * attained +
                         delta_ * static_cast<double>(sorted_.size() - to);
  // Sums of long durations may lose short ones.
  return ending / std::max(service, ending * kHair);
}

double DurationSample::next_change(double attained) const {
  refresh();
  const std::size_t at = position_above(attained + kHair);
  return at < sorted_.size() ? sorted_[at] : std::numeric_limits<double>::infinity();
}

double DurationSample::expected_remaining(double attained) const {
  refresh();
  const std::size_t from = position_above(attained);
  if (from == sorted_.size()) return attained;
  return (sums_.back() - sums_[from]) / static_cast<double>(sorted_.size() - from) - attained;
}

}  // namespace muster
