// Which pairs of features interact: the FAST heuristic of Lou, Caruana, Gehrke and Hooker (KDD'13).
//
// For each pair, the gradients that the features alone leave are summed up in a two-dimensional
// histogram; the score of the pair is what the best division of the plane into four quadrants would
// explain. With cumulated sums every division costs constant time: O(rows + bins^2) for a pair.
#pragma once

#include <cstddef>
#include <vector>

#include "learn/ebm_bag.h"

namespace muster {

class PairHistogram {
 public:
  PairHistogram(int first_bins, int second_bins)
      : rows_(static_cast<std::size_t>(first_bins)),
        columns_(static_cast<std::size_t>(second_bins)),
        gradient_(rows_ * columns_, 0),
        number_(rows_ * columns_, 0) {}
  void add(std::size_t first, std::size_t second, double gradient) {
    gradient_[first * columns_ + second] += gradient;
    number_[first * columns_ + second] += 1;
  }
  // What the best four quadrants of at least `min_leaf` rows each explain. Uses the sums up.
  double best_gain(int min_leaf);

 private:
  void cumulate();

  std::size_t rows_;
  std::size_t columns_;
  std::vector<double> gradient_;
  std::vector<double> number_;
};

// The pairs that explain most, by the mean of their ranks over the bags: one lucky bag does not
// decide. `gains` is by bag, [first * features + second]. Pairs of more than `most_cells` cells are
// left out.
std::vector<BinnedPair> choose_pairs(const std::vector<std::vector<double>>& gains,
                                     const std::vector<BinnedColumn>& coarse, int wanted,
                                     int most_cells);

}  // namespace muster
