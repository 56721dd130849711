// The least of many numbers, two at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>

namespace muster::lanes {

// Two numbers at once, as every 64-bit processor has them.
using Pair = double __attribute__((vector_size(16)));

inline Pair at(const double* from) {
  Pair pair;
  std::memcpy(&pair, from, sizeof pair);
  return pair;
}

// The least of value(i), a pair, over even i below `size`, which is even; four pairs at once, as
// comparisons that wait for each other would take four times as long.
template <typename Value>
double least_of(std::size_t size, Value value) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Pair least[4];
  for (Pair& one : least) one = Pair{infinity, infinity};
  const auto take = [&](std::size_t lane, std::size_t i) {
    const Pair pair = value(i);
    least[lane] = pair < least[lane] ? pair : least[lane];
  };
  std::size_t i = 0;
  for (; i + 8 <= size; i += 8) {
    for (std::size_t lane = 0; lane < 4; ++lane) take(lane, i + 2 * lane);
  }
  for (; i < size; i += 2) take(0, i);
  for (const Pair& one : least) least[0] = one < least[0] ? one : least[0];
  return std::min(least[0][0], least[0][1]);
}

}  // namespace muster::lanes
