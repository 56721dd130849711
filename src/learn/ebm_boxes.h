// Rounds of random cuts on pairs, for squared error. Used by learn/ebm_rounds.cc alone.
//
// Cuts that are drawn do not depend on the rows. So those of several pairs can be drawn first, and
// one pass over the rows then serves all of these pairs: it sums up the gradients of the rows that
// share a box of every pair. From these sums the steps follow one after the other, as if each had a
// pass of its own: a step moves all rows of a sum alike. Which boxes a row is in takes two
// comparisons for each pair, several rows at a time.
//
// A round costs a pass over the rows for every five pairs; fewer are taken together where sums
// would be more than an eighth of the rows. The best cuts of a pair are known only after the steps
// before it: rounds of best cuts need a pass for every pair.
//
// Invariant: after each step the sums by code equal those that a pass over the rows would give,
// except for rounding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "learn/ebm_rows.h"

namespace muster {

struct BinnedPair {
  int first = 0;  // positions of the features
  int second = 0;
};

class PairBoxes {
 public:
  // `places`: the coarse bins by feature.
  PairBoxes(const std::vector<TermCells>& places, const std::vector<BinnedPair>& pairs,
            const EbmRows& rows, double learning_rate);

  // A step on every pair in turn; adds to the scores of the rows and, [pair][cell], to `scores`.
  void round(Random& random, EbmRows& rows, std::vector<std::vector<double>>& scores);

 private:
  struct Sum {
    double gradient = 0;
    double rows = 0;
  };

  std::size_t codes(std::size_t pairs) const;  // boxes_ to that power
  // Applies the steps on the pairs before and sums up for the pairs [first, end).
  void sum_up(const std::vector<PairCuts>& cuts, std::size_t first, std::size_t end, EbmRows& rows);
  void take_step(const PairCuts& cuts, std::size_t pair, std::size_t digit,
                 std::vector<double>& scores);

  // Places less kMiddle, as the processor compares numbers with a sign faster.
  struct Axis {
    std::vector<std::int16_t> places;
    int count = 0;
  };
  template <bool kSomeInNone>
  void append_boxes(const PairCuts& cuts, const BinnedPair& pair, std::size_t begin,
                    std::size_t end);
  const Axis& first_of(const BinnedPair& pair) const {
    return axes_[static_cast<std::size_t>(pair.first)];
  }
  const Axis& second_of(const BinnedPair& pair) const {
    return axes_[static_cast<std::size_t>(pair.second)];
  }

  std::vector<Axis> axes_;  // by feature; empty if it is in no pair
  const std::vector<BinnedPair>& pairs_;
  double learning_rate_;
  std::size_t boxes_ = 4;  // of each pair; 5 where some row is in no box
  std::size_t together_ = 1;
  std::vector<std::uint16_t> code_;  // by row: a digit for its box in each of the pairs
  std::vector<Sum> sums_;            // by code
  std::vector<double> change_;       // by code: the steps so far
  std::vector<float> applied_;       // by code: the steps of the pairs before
};

}  // namespace muster
