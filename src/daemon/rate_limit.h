// Limits the requests of one user per second: a token bucket, so bursts of a few seconds' worth are
// fine.
#pragma once

#include <algorithm>
#include <mutex>
#include <string>
#include <unordered_map>

#include "model/ids.h"

namespace muster {

class RateLimit {
 public:
  explicit RateLimit(double per_second) : per_second_(per_second) {}

  double per_second() const { return per_second_; }
  // From any thread; `now` never goes back.
  bool allow(const std::string& user, Seconds now) {
    constexpr double kBurst = 5;  // seconds
    const std::lock_guard lock(mutex_);
    const auto [purse, first] = purses_.try_emplace(user);
    if (first) purse->second = {kBurst * per_second_, now};
    auto& [left, since] = purse->second;
    left = std::min(kBurst * per_second_, left + (now - since) * per_second_);
    since = now;
    if (left < 1) return false;
    left -= 1;
    return true;
  }

 private:
  struct Purse {
    double left = 0;
    Seconds since = 0;
  };

  double per_second_;
  std::mutex mutex_;
  std::unordered_map<std::string, Purse> purses_;
};

}  // namespace muster
