// The daemon's clock: seconds since its state folder was first used. It never goes backwards, even
// if the machine's clock is set or the daemon restarts.
#pragma once

#include <algorithm>
#include <chrono>

#include "model/ids.h"

namespace muster {

class LiveClock {
 public:
  // `epoch` is when the folder was first used, in seconds since 1970; `least` the latest time that
  // the store knows.
  LiveClock(double epoch, Seconds least)
      : epoch_(epoch),
        began_(std::chrono::steady_clock::now()),
        offset_(std::max(least, unix_now() - epoch)) {}

  Seconds now() const { return offset_ + since_began(std::chrono::steady_clock::now()); }
  // For a wait: when it will be `time`.
  std::chrono::steady_clock::time_point when(Seconds time) const {
    const Seconds wait = std::clamp(time - now(), 0.0, 3600.0);
    return std::chrono::steady_clock::now() +
           std::chrono::duration_cast<std::chrono::steady_clock::duration>(
               std::chrono::duration<double>(wait));
  }
  // For people: seconds since 1970.
  double unix_time(Seconds time) const { return epoch_ + time; }

  static double unix_now() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
        .count();
  }

 private:
  Seconds since_began(std::chrono::steady_clock::time_point time) const {
    return std::chrono::duration<double>(time - began_).count();
  }

  double epoch_;
  std::chrono::steady_clock::time_point began_;
  Seconds offset_;
};

}  // namespace muster
