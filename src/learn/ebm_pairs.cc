#include "learn/ebm_pairs.h"

#include <algorithm>
#include <numeric>

namespace muster {

// Two-dimensional prefix sums (a summed-area table): afterwards a cell holds the sum over all cells
// above and left of it, itself included.
void PairHistogram::cumulate() {
  for (std::size_t i = 0; i < rows_; ++i) {
    for (std::size_t j = 1; j < columns_; ++j) {
      const std::size_t k = i * columns_ + j;
      gradient_[k] += gradient_[k - 1];
      number_[k] += number_[k - 1];
    }
    for (std::size_t j = 0; i > 0 && j < columns_; ++j) {
      gradient_[i * columns_ + j] += gradient_[(i - 1) * columns_ + j];
      number_[i * columns_ + j] += number_[(i - 1) * columns_ + j];
    }
  }
}

// Every corner cuts the plane into four quadrants, whose sums follow from the prefix sums by
// inclusion and exclusion. The gain is what four constants explain beyond one (learn/ebm_step.h).
double PairHistogram::best_gain(int min_leaf) {
  cumulate();
  const std::vector<double>& g = gradient_;
  const std::vector<double>& n = number_;
  double best = 0;
  const std::size_t last = rows_ * columns_ - 1;
  for (std::size_t i = 0; i + 1 < rows_; ++i) {
    for (std::size_t j = 0; j + 1 < columns_; ++j) {
      const std::size_t k = i * columns_ + j;
      const std::size_t side = i * columns_ + columns_ - 1;
      const std::size_t below = (rows_ - 1) * columns_ + j;
      const double n1 = n[k];
      const double n2 = n[side] - n1;
      const double n3 = n[below] - n1;
      const double n4 = n[last] - n1 - n2 - n3;
      // FAST (KDD'13): a quadrant with few rows would make a spurious interaction look strong.
      if (std::min({n1, n2, n3, n4}) < min_leaf) continue;
      const double g1 = g[k];
      const double g2 = g[side] - g1;
      const double g3 = g[below] - g1;
      const double g4 = g[last] - g1 - g2 - g3;
      best = std::max(best, gain_of(g1, n1) + gain_of(g2, n2) + gain_of(g3, n3) + gain_of(g4, n4) -
                                gain_of(g[last], n[last]));
    }
  }
  return best;
}

// Rank aggregation over the bags (Borda count); ties go to the earlier pair. O(bags x pairs log
// pairs).
std::vector<BinnedPair> choose_pairs(const std::vector<std::vector<double>>& gains,
                                     const std::vector<BinnedColumn>& coarse, int wanted,
                                     int most_cells) {
  const std::size_t features = coarse.size();
  std::vector<BinnedPair> pairs;
  for (std::size_t a = 0; a < features; ++a) {
    for (std::size_t b = a + 1; b < features; ++b) {
      // Pairs whose table would be too large are no candidates; the test by division cannot
      // overflow.
      if (coarse[a].count > most_cells / coarse[b].count) continue;
      pairs.push_back({static_cast<int>(a), static_cast<int>(b)});
    }
  }
  const auto gain = [&](const std::vector<double>& bag, const BinnedPair& pair) {
    return bag[static_cast<std::size_t>(pair.first) * features +
               static_cast<std::size_t>(pair.second)];
  };
  std::vector<double> rank(pairs.size(), 0);
  for (const std::vector<double>& bag : gains) {
    std::vector<std::size_t> order(pairs.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return gain(bag, pairs[a]) > gain(bag, pairs[b]);
    });
    for (std::size_t place = 0; place < order.size(); ++place) {
      rank[order[place]] += static_cast<double>(place);
    }
  }
  std::vector<std::size_t> order(pairs.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rank[a] < rank[b]; });
  std::vector<BinnedPair> chosen;
  for (std::size_t i = 0; i < order.size() && static_cast<int>(i) < wanted; ++i) {
    chosen.push_back(pairs[order[i]]);
  }
  return chosen;
}

}  // namespace muster
