// Which candidates survive: NSGA-II's non-dominated sorting and crowding distance (Deb and others,
// 2002).
#include <algorithm>
#include <limits>

#include "solve/allocation_search.h"

namespace muster {

// Sorts into fronts: no candidate in one is dominated, beaten in both objectives, by another of it.
// With two objectives one pass over the candidates in order of the first is enough: a candidate
// joins the first front whose last member does not dominate it. O(n log n).
void AllocationSearch::rank(std::vector<Candidate>& all) {
  std::sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    if (a.value != b.value) return a.value < b.value;
    return a.utility != b.utility ? a.utility < b.utility : a.hash < b.hash;
  });
  tails_.clear();
  for (Candidate& one : all) {
    // Sorted by the first objective, a candidate is dominated by a front exactly if the front's
    // last member is no worse in the second one; so the fronts can be searched by bisection.
    const auto free = std::partition_point(tails_.begin(), tails_.end(), [&](const auto& tail) {
      const bool equal = tail.first == one.value && tail.second == one.utility;
      return tail.second <= one.utility && !equal;
    });
    one.front = static_cast<int>(free - tails_.begin());
    if (free == tails_.end()) {
      tails_.emplace_back(one.value, one.utility);
    } else {
      *free = {one.value, one.utility};
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Candidate& a, const Candidate& b) { return a.front < b.front; });
  for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    while (end < all.size() && all[end].front == all[begin].front) ++end;
    measure_crowding(std::span(all).subspan(begin, end - begin));
  }
}

// Of each member of a front: how far its neighbours lie apart, as parts of the front's extent.
// Those at the ends are infinitely far; of several with the same objectives all but the first are
// not apart at all.
void AllocationSearch::measure_crowding(std::span<Candidate> front) {
  constexpr double kFar = std::numeric_limits<double>::infinity();
  const double values = front.back().value - front.front().value;
  const double utilities = front.front().utility - front.back().utility;
  const auto twins = [&](std::size_t a, std::size_t b) {
    return front[a].value == front[b].value && front[a].utility == front[b].utility;
  };
  std::size_t last = 0;  // with other objectives than the present one
  for (std::size_t i = 0; i < front.size(); ++i) {
    front[i].distance = 0;
    if (i > 0 && twins(i, i - 1)) continue;
    std::size_t next = i + 1;
    while (next < front.size() && twins(next, i)) ++next;
    if (i == 0 || next == front.size()) {
      front[i].distance = kFar;
    } else {
      if (values > 0) front[i].distance += (front[next].value - front[last].value) / values;
      if (utilities > 0) {
        front[i].distance += (front[last].utility - front[next].utility) / utilities;
      }
    }
    last = i;
  }
}

// Elitism: parents and children compete, and whole fronts survive as long as they fit.
void AllocationSearch::survive() {
  population_.insert(population_.end(), offspring_.begin(), offspring_.end());
  offspring_.clear();
  rank(population_);
  const auto most = static_cast<std::size_t>(options_.population);
  if (population_.size() > most) {
    // Of the front that does not fit, those farthest from their neighbours.
    const int front = population_[most - 1].front;
    const auto begin = std::find_if(population_.begin(), population_.end(),
                                    [&](const Candidate& c) { return c.front == front; });
    const auto end = std::find_if(begin, population_.end(),
                                  [&](const Candidate& c) { return c.front != front; });
    std::stable_sort(
        begin, end, [](const Candidate& a, const Candidate& b) { return a.distance > b.distance; });
    for (std::size_t i = most; i < population_.size(); ++i) {
      vacant_.push_back(population_[i].cells);
    }
    population_.resize(most);
  }
  std::fill(hashes_.begin(), hashes_.end(), 0);
  for (const Candidate& candidate : population_) add(candidate);
}

}  // namespace muster
