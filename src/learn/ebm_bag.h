// One bag of an explainable boosting machine (learn/ebm.h): a part of the rows, boosted round by
// round until its other part says stop. Used by train_ebm alone.
//
// Cyclic gradient boosting: a round visits the terms in turn, gives each one small tree fitted to
// the gradient of the loss (squared error, or log loss in classification) by a Newton step, and
// shrinks it by the learning rate. Because every term is visited with the same small step, no
// feature takes credit for another that it correlates with before that one had its turn. Early
// stopping: the scores of the round with the lowest validation error are kept.
//
// Invariant: `score_` is, for every row, base + the sum of all terms' scores in the row's bins
// (less the target in regression). A round costs O(rows x terms) and reads each column once.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "learn/ebm.h"
#include "learn/ebm_step.h"

namespace muster {

// The data as bins, shared by all bags.
struct BinnedColumn {
  std::vector<std::uint16_t> bin;  // by row; `count` for a value without a bin
  int count = 0;
  bool categorical = false;
};

struct BinnedPair {
  int first = 0;  // positions of the features
  int second = 0;
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

  const std::vector<std::vector<double>>& feature_scores() const { return best_; }
  const std::vector<std::vector<double>>& pair_scores() const { return best_pairs_; }

 private:
  using Cells = std::vector<std::uint16_t>;

  // The first `smoothing` rounds cut at random. Goes on from the present scores and ends with those
  // of the lowest validation error, which it returns.
  double boost(const std::vector<Cells>& cells, const std::vector<int>& counts,
               const std::vector<BinnedPair>* pairs, int smoothing,
               std::vector<std::vector<double>>& best);
  void sum_up(const Cells& cells, int count, StepSums& sums) const;
  void apply(const Cells& cells, const std::vector<double>& step);
  // Both at once, where the gradient is a difference: the rows are read once instead of twice.
  void apply_and_sum(const Cells& applied, const std::vector<double>& step, const Cells& cells,
                     int count, StepSums& sums);
  double validation_error() const;
  double gradient_of(std::size_t i) const;

  const std::vector<BinnedColumn>& fine_;
  const std::vector<BinnedColumn>& coarse_;
  const EbmOptions& options_;
  Random random_;
  std::vector<std::uint32_t> order_;  // rows of this bag: training first, then validation
  std::size_t training_ = 0;
  std::vector<float> target_;  // in that order; of classification only
  // What the terms add up to; in regression less the target, so that it is the error.
  std::vector<float> score_;
  mutable std::vector<double> odd_;  // scratch: sums of every second row
  std::vector<std::vector<double>> best_;
  std::vector<std::vector<double>> best_pairs_;
};

}  // namespace muster
