// One bag of an explainable boosting machine (learn/ebm.h): a part of the rows, boosted round by
// round until its other part says stop. Used by train_ebm alone.
//
// A round visits the terms in turn, gives each one small tree fitted to the gradient of the loss
// (squared error, or log loss in classification) by a Newton step, and shrinks it by the learning
// rate. Because every term is visited with the same small step, no feature takes credit for another
// that it correlates with before that one had its turn. How rounds are taken, and what they cost:
// learn/ebm_rounds.h. Early stopping: the scores of the round with the lowest validation error are
// kept.
//
// Invariant: between stages the score of every row is base + the sum of all terms' scores in the
// row's bins (less the target in regression).
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "learn/ebm.h"
#include "learn/ebm_rounds.h"

namespace muster {

// The data as bins, shared by all bags.
struct BinnedColumn {
  std::vector<std::uint16_t> bin;  // by row; `count` for a value without a bin
  int count = 0;
  bool categorical = false;
};

class EbmBag {
 public:
  EbmBag(const std::vector<BinnedColumn>& fine, const std::vector<BinnedColumn>& coarse,
         const std::vector<double>& target, const EbmOptions& options, double base,
         std::uint64_t seed);

  // Boosts the features one after the other, round by round.
  void fit_features();
  // How much each pair of features could still explain; [first * features + second].
  std::vector<double> pair_gains() const;
  void fit_pairs(const std::vector<BinnedPair>& pairs);

  const EbmScores& feature_scores() const { return best_; }
  const EbmScores& pair_scores() const { return best_pairs_; }

 private:
  // The first `smoothing` rounds cut at random. Returns the lowest validation error and leaves the
  // scores of that round in `best`.
  double boost(EbmRounds& rounds, const std::vector<TermCells>& terms, int smoothing,
               EbmScores& best);
  TermCells cells_of(const BinnedColumn& column) const;

  const std::vector<BinnedColumn>& fine_;
  const std::vector<BinnedColumn>& coarse_;
  const EbmOptions& options_;
  Random random_;
  std::vector<std::uint32_t> order_;  // rows of this bag: training first, then held out
  EbmRows rows_;                      // in that order
  EbmScores best_;
  EbmScores best_pairs_;
};

}  // namespace muster
