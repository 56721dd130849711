#include "report/time_left.h"

#include <algorithm>

namespace muster {

std::optional<double> TimeLeft::left_of(const Run& run, Past& past, double now,
                                        double usual) const {
  constexpr double kEnough = 1;  // seconds of work to judge a speed by
  const Past::Point here{now, static_cast<double>(run.done)};
  // Half of the past is enough to judge by, and the newer half is the better one.
  if (now - past.begun.at >= 2 * (past.newer.at - past.begun.at)) {
    past.older = past.newer;
    past.newer = here;
  }
  const double worked = here.done - past.older.done;
  const double passed = here.at - past.older.at;
  if (run.total == 0) return std::nullopt;
  if (worked <= 0 || passed < kEnough) {
    const double left = usual - (now - past.begun.at);
    return left > 0 ? std::optional(left) : std::nullopt;
  }
  return std::max(0.0, static_cast<double>(run.total) - here.done) * passed / worked;
}

std::optional<double> TimeLeft::judged(double now, std::span<const Run> runs,
                                       std::size_t expected) {
  double length_of_all = 0;
  std::size_t finished = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Past::Point here{now, static_cast<double>(runs[i].done)};
    if (i == pasts_.size()) pasts_.push_back({here, here, here, 0});
    if (!runs[i].finished) continue;
    if (pasts_[i].took == 0) pasts_[i].took = now - pasts_[i].begun.at;
    length_of_all += pasts_[i].took;
    ++finished;
  }
  const double usual = finished > 0 ? length_of_all / static_cast<double>(finished) : 0;
  bool known = runs.size() > finished;
  double longest = 0;
  double left_of_all = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].finished) continue;
    const std::optional<double> left = left_of(runs[i], pasts_[i], now, usual);
    known = known && left.has_value();
    longest = std::max(longest, left.value_or(0));
    left_of_all += left.value_or(0);
    length_of_all += now - pasts_[i].begun.at + left.value_or(0);
  }
  if (!known) return std::nullopt;
  const double waiting = static_cast<double>(expected - std::min(expected, runs.size()));
  const double mean = length_of_all / static_cast<double>(runs.size());
  const double threads = static_cast<double>(runs.size() - finished);
  return std::max(longest, (left_of_all + waiting * mean) / threads);
}

std::optional<TimeLeft::Answer> TimeLeft::at(double now, std::span<const Run> runs,
                                             std::size_t expected) {
  const std::optional<double> left = judged(now, runs, expected);
  if (!left) return std::nullopt;
  promised_ = std::min(promised_, *left);
  const double slack = 1 + promised_ / 10;  // seconds; less is noise
  return Answer{promised_, *left > promised_ + slack};
}

}  // namespace muster
