// One step of boosting on one term of an explainable boosting machine: a small regression tree over
// the bins of a feature, or over the cells of a pair of features. Used by the bags alone
// (learn/ebm_bag.h).
//
// Histogram trees: the rows were summed up by bin, so that a step costs nothing that depends on the
// number of rows. A leaf's value is a Newton step, the sum of its gradients over the sum of its
// curvature (over its rows, for squared error), times the learning rate; the gain of a cut is
// G1^2/H1 + G2^2/H2 - G^2/H (Friedman, Hastie and Tibshirani, 2000; as in XGBoost and LightGBM).
#pragma once

#include <vector>

#include "base/random.h"
#include "learn/ebm.h"

namespace muster {

// By bin or cell, one more for values without a bin.
struct StepSums {
  std::vector<double> gradient;
  std::vector<double> weight;  // rows, or curvature in classification
};

// What a leaf explains: the square of its gradients over its rows or curvature.
constexpr double gain_of(double gradient, double weight) {
  return weight > 0 ? gradient * gradient / weight : 0;
}

// A tree of at most options.max_leaves leaves over the bins of one feature, grown best first, or,
// with `random`, cut anywhere, in O(bins x leaves). Categories have no order of their own: they are
// cut in the order of what they want, which holds a best cut in two (Fisher, 1958). `rows` counts
// the rows of each bin; `step` comes as zeros.
void feature_step(const StepSums& sums, const std::vector<double>& rows, bool categorical,
                  const EbmOptions& options, Random* random, std::vector<double>& step);

// Cells [top, bottom) x [left, right) of a pair.
struct PairBox {
  int top = 0;
  int bottom = 0;
  int left = 0;
  int right = 0;
  void add(double value, int second_count, std::vector<double>& cells) const;
};

// One cut of one feature of a pair, then a cut of the other in each half: four boxes.
struct PairCuts {
  double gain = 0;
  bool by_first = true;
  int cut = -1;  // none
  int low = 0;   // of the half before `cut`
  int high = 0;  // of the other

  // Anywhere, so that they do not depend on the rows.
  static PairCuts draw(int first_count, int second_count, Random& random);
  // Two of each half, in order.
  PairBox box(int number, int first_count, int second_count) const;
};

// A tree of four leaves over the cells of a pair, row by row: one cut of one feature, then one cut
// of the other in each half. O(first x second) cuts are tried, each in constant time by sums over
// rectangles; with `random`, three cuts are drawn. A box without rows stays as it is.
void pair_step(const StepSums& sums, const std::vector<double>& rows, int first_count,
               int second_count, const EbmOptions& options, Random* random,
               std::vector<double>& step);

}  // namespace muster
