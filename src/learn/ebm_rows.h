// The rows of one bag of an explainable boosting machine (learn/ebm_bag.h), training first, then
// held out, each with what the terms add up to so far. All that boosting does row by row is here:
// sums of the gradient by bin, steps, the validation error. Each is one pass, O(rows).
//
// In regression the score is kept less the target: of squared error only the residual counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "learn/ebm_step.h"

namespace muster {

// The bin or cell of each row; one past the last for a row without a bin.
using Cells = std::vector<std::uint16_t>;

// Where the rows of a bag fall in one term.
struct TermCells {
  Cells cells;
  int count = 0;
  bool categorical = false;
};

class EbmRows {
 public:
  EbmRows() = default;
  // `target` in the order of the bag; all scores begin with `base`.
  EbmRows(const std::vector<double>& target, std::size_t training, bool classify, double base);

  std::size_t count() const { return score.size(); }
  std::size_t training() const { return training_; }

  // The negative gradient of the loss at a row: target minus prediction, in log loss minus
  // probability.
  double gradient_of(std::size_t i) const;
  // Gradients and, for log loss, curvatures p (1 - p) of training rows, added up by bin: all that a
  // step needs. `count` is the number of bins.
  void sum_up(const Cells& cells, int count, StepSums& sums) const;
  void apply(const Cells& cells, const std::vector<double>& step);
  // Both at once, where the gradient is a difference: the rows are read once instead of twice.
  void apply_and_sum(const Cells& applied, const std::vector<double>& step, const Cells& cells,
                     int count, StepSums& sums);
  // Mean squared error or mean log loss on the rows that were held out.
  double validation_error() const;

  std::vector<float> score;

 private:
  bool classify_ = false;
  std::size_t training_ = 0;
  std::vector<float> target_;        // of classification only
  mutable std::vector<double> odd_;  // scratch: sums of every second row
};

}  // namespace muster
