// The loops over all vertices in which matching.cc spends its time, written so that compilers use
// two lanes or more. Vertices count from 1. What they compute is what the plain loops would, to the
// bit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

namespace muster::matching_rows {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kTight = std::numeric_limits<double>::min();  // a slack below it is none

// Two numbers at once, as every 64-bit processor has them.
struct Lanes {
  using Pair = double __attribute__((vector_size(16)));
  using Mask = decltype(Pair{} < Pair{});
  static Pair at(const double* from) {
    Pair pair;
    std::memcpy(&pair, from, sizeof pair);
    return pair;
  }
};
// The least of value(v) over v in [1, end), in four lanes: comparisons that wait for each other
// would take four times as long.
template <typename Value>
double least_of(std::int32_t end, Value value) {
  double least[4] = {kInfinity, kInfinity, kInfinity, kInfinity};
  std::int32_t v = 1;
  for (; v + 4 <= end; v += 4) {
    for (std::int32_t j = 0; j < 4; ++j) {
      const double one = value(v + j);
      least[j] = one < least[j] ? one : least[j];
    }
  }
  double best = std::min(std::min(least[0], least[1]), std::min(least[2], least[3]));
  for (; v < end; ++v) best = std::min(best, value(v));
  return best;
}

// The first v in [1, end) with the least own + label - weight + hidden; 0 if that is infinite.
inline std::int32_t least_slack(const double* label, const double* weight, const double* hidden,
                                double own, std::int32_t end) {
  const auto slack = [=](std::int32_t v) { return label[v] + own - weight[v] + hidden[v]; };
  const double best = least_of(end, slack);
  if (best == kInfinity) return 0;
  std::int32_t v = 1;
  while (v < end && slack(v) != best) ++v;
  return v;
}

// Puts `child` in place of those that stood for a compound vertex before v in [1, end), wherever
// its edge has less slack or there was none.
inline void adopt_row(std::int32_t* near, double* slack, double* adopted, const double* label,
                      const double* weight, std::int32_t child, double own, bool first,
                      std::int32_t end) {
  if (first) {
    for (std::int32_t v = 1; v < end; ++v) {
      near[v] = child;
      slack[v] = own + label[v] - weight[v];
      adopted[v] = weight[v];
    }
    return;
  }
  for (std::int32_t v = 1; v < end; ++v) {
    const double gap = own + label[v] - weight[v];
    const bool better = (gap < slack[v]) | !(adopted[v] > 0);
    near[v] = better ? child : near[v];
    slack[v] = better ? gap : slack[v];
    adopted[v] = better ? weight[v] : adopted[v];
  }
}

// Offers u to the vertices from `from` on, eight at a time: where the slack is below the limit, it
// becomes the least and the limit. Stops before the eight in which an edge is tight, or that are
// not whole; returns where.
inline std::int32_t offer_row(const double* label, const double* weight, double* limit,
                              double* best_slack, std::int32_t* best, std::int32_t u, double own,
                              std::int32_t from, std::int32_t end) {
  constexpr std::int32_t kBlock = 8;
  for (; from + kBlock <= end; from += kBlock) {
    Lanes::Pair gap[kBlock / 2];
    Lanes::Mask below[kBlock / 2];
    Lanes::Mask news{};
    Lanes::Mask tight{};
    for (std::int32_t j = 0; j < kBlock / 2; ++j) {
      const std::int32_t v = from + 2 * j;
      gap[j] = own + Lanes::at(label + v) - Lanes::at(weight + v);
      below[j] = gap[j] < Lanes::at(limit + v);
      news |= below[j];
      tight |= below[j] & (gap[j] < kTight);
    }
    if ((news[0] | news[1]) == 0) continue;
    if ((tight[0] | tight[1]) != 0) return from;
    for (std::int32_t j = 0; j < kBlock / 2; ++j) {
      const std::int32_t v = from + 2 * j;
      const Lanes::Pair slack = below[j] ? gap[j] : Lanes::at(best_slack + v);
      const Lanes::Pair bound = below[j] ? gap[j] : Lanes::at(limit + v);
      std::memcpy(best_slack + v, &slack, sizeof slack);
      std::memcpy(limit + v, &bound, sizeof bound);
      best[v] = below[j][0] != 0 ? u : best[v];
      best[v + 1] = below[j][1] != 0 ? u : best[v + 1];
    }
  }
  return from;
}

}  // namespace muster::matching_rows
