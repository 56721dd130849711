// The explainable boosting machine: a generalised additive model with pairwise interactions (GA2M),
//
//   g(E[y]) = intercept + sum of f_i(x_i) + sum of f_ij(x_i, x_j),
//
// learnt by cyclic gradient boosting on binned features. Each function can be drawn, and each
// prediction taken apart into what its features add; that is exact, not an approximation after the
// fact. Lou, Caruana and Gehrke, "Intelligible models for classification and regression", KDD'12;
// Lou, Caruana, Gehrke and Hooker, "Accurate intelligible models with pairwise interactions",
// KDD'13; Nori, Jenkins, Koch and Caruana, "InterpretML", 2019.
//
// Training: bins (learn/bins.h); for each of several bags, rounds over all features (learn/
// ebm_bag.h) by small histogram trees (learn/ebm_step.h); then the best pairs (FAST,
// learn/ebm_pairs.h) in the same way; the mean over the bags is the model, their spread its error
// bars. O(bags x rounds x terms x rows) at most, and far less in regression, where rounds over the
// features need no rows (learn/ebm_rounds.h); a prediction costs one table look-up per term.
//
// Invariant: every term is centred, it adds nothing on average over the training rows; the
// intercept carries the mean.
//
// Regression predicts a number; classification the probability of the second of two classes (the
// terms then add up to log-odds). For more classes see learn/tree.h.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "learn/bins.h"
#include "learn/features.h"

namespace muster {

struct EbmOptions {
  // These change the model.
  int max_bins = 256;         // of a feature alone
  int pair_bins = 32;         // of each feature of a pair
  bool uniform_bins = false;  // bins of equal width instead of equal counts
  int pairs = 10;             // interactions to find and fit
  int bags = 8;               // models on different parts of the data, averaged
  double learning_rate = 0.05;
  int max_rounds = 2000;
  int patience = 50;         // rounds without gain after which a bag stops
  double tolerance = 1e-4;   // least gain that counts, as a part of the error
  double validation = 0.15;  // part of the rows that decides when to stop
  int min_leaf = 2;          // rows on each side of a cut
  int max_leaves = 3;        // of one step on one feature
  // The first rounds cut at random instead of where it explains most: what they learn is an average
  // over many cuts, and follows smooth effects without following the noise. 0: none.
  int smoothing_rounds = 200;
  int pair_smoothing_rounds = 400;  // the same of pairs
  std::uint64_t seed = 42;
  bool classify = false;
  // This changes speed only.
  int threads = 0;  // 0: as many as the machine has
  // Asked between rounds, in every thread. Once it says no it must not say yes again: training
  // then ends soon, with an error.
  std::function<bool()> keep_going = {};
  bool stopped() const { return keep_going && !keep_going(); }
};

// Where the values of one feature fall in every table that uses it: one search instead of one per
// term. Place 0 is for missing values.
struct EbmLookup {
  int feature = 0;
  bool categorical = false;
  int categories = 0;
  std::vector<double> cuts;  // of all tables together
  std::size_t place(double value) const;
  std::size_t places() const {
    return categorical ? static_cast<std::size_t>(categories) + 2 : cuts.size() + 2;
  }
};

struct EbmTerm {
  std::vector<int> features;       // one or two, by position in the feature set
  std::vector<Bins> bins;          // one per feature
  std::vector<double> scores;      // by bin; of a pair row by row
  std::vector<double> deviations;  // of the scores over the bags
  std::vector<double> weights;     // training rows per bin
  double importance = 0;           // mean size of what it adds over the training rows
  // Filled by Ebm::index(): by place of its first and second feature, what it adds to the cell, or
  // something far below zero where it has none.
  int lookups[2] = {0, 0};
  std::vector<int> first;
  std::vector<int> second;

  // Where a row falls; kNoBin where it has no effect.
  int cell(std::span<const double> row) const;
  std::string name(const FeatureSet& set) const;
};

struct Explanation {
  struct Part {
    int term = 0;
    double score = 0;      // what it adds
    double deviation = 0;  // its error bar
  };
  double intercept = 0;
  std::vector<Part> parts;  // largest effect first
  double sum = 0;           // intercept and parts
  double prediction = 0;    // the sum, or the probability it stands for
};

struct Ebm {
  FeatureSet features;
  std::string target;
  bool classify = false;
  std::vector<std::string> classes;  // of a classifier: the two names
  double intercept = 0;
  double rows = 0;  // it was trained on
  std::vector<EbmTerm> terms;
  std::vector<EbmLookup> lookups;

  // Makes the look-up tables. Call it after the terms or their bins were changed by hand; training
  // and reading a file have done so.
  void index();
  // The sum of intercept and terms.
  double score(std::span<const double> row) const;
  // The predicted number, or the probability of the second class.
  double predict(std::span<const double> row) const;
  Explanation explain(std::span<const double> row) const;
  // Terms by importance, largest first.
  std::vector<int> ranking() const;
};

// `columns` is [feature][row] as FeatureSet::encode gives it; `target` has no NaN. At least
// kFewestRows rows are needed.
inline constexpr std::size_t kFewestRows = 50;
Result<Ebm> train_ebm(const FeatureSet& features, const std::vector<std::vector<double>>& columns,
                      const std::vector<double>& target, const EbmOptions& options);

enum class Direction { kAutomatic, kIncreasing, kDecreasing };
// Makes the effect of a feature monotone: isotonic regression of its scores, weighted by the rows
// in each bin; the bin of missing values stays. Categories have no order: an error.
Status make_monotone(Ebm& model, std::string_view feature, Direction direction);

// Best non-decreasing fit in the weighted least-squares sense.
std::vector<double> isotonic(std::span<const double> values, std::span<const double> weights);

}  // namespace muster
