// Wall time, for benches.
#pragma once

#include <chrono>

namespace muster::bench {

using Moment = std::chrono::steady_clock::time_point;

inline Moment now() { return std::chrono::steady_clock::now(); }
inline double seconds_since(Moment begin) {
  return std::chrono::duration<double>(now() - begin).count();
}
template <typename Work>
double wall_seconds_of(Work work) {
  const Moment begin = now();
  work();
  return seconds_since(begin);
}

}  // namespace muster::bench
