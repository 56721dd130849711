#include "policy/tiresias/duration_sample.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "base/text.h"

namespace muster {
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
  table_.clear();
  for (const double value : sorted_) table_.push_back(index_at(value - 1));
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

double DurationSample::index_at(double attained) const {
  const std::size_t n = sorted_.size();
  const std::size_t from = position_above(attained);
  const double ahead = attained + delta_;
  const std::size_t to = ahead > sorted_.back() - 1 ? n - 1 : position_above(ahead);
  const auto left = static_cast<double>(n - from);
  const double chance = rounded(static_cast<double>(to - std::min(from, to)) / left, 5);
  const double service = std::floor(
      (sums_[std::max(from, to)] - sums_[from] + delta_ * static_cast<double>(n - to)) / left);
  constexpr double kScale = 1e6;
  return service > 0 ? rounded(chance * kScale / service, 4) : 0;
}

double DurationSample::gittins(double attained) const {
  refresh();
  if (sorted_.empty() || attained > sorted_.back()) return 0;
  const std::size_t at = position_above(attained);
  return at < table_.size() ? table_[at] : 0;
}

double DurationSample::next_change(double attained) const {
  refresh();
  const std::size_t at = position_above(attained);
  return at < sorted_.size() ? sorted_[at] : std::numeric_limits<double>::infinity();
}

double DurationSample::expected_remaining(double attained) const {
  refresh();
  const std::size_t from = position_above(attained);
  if (from == sorted_.size()) return attained;
  return (sums_.back() - sums_[from]) / static_cast<double>(sorted_.size() - from) - attained;
}

}  // namespace muster
