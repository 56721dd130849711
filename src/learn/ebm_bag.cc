#include "learn/ebm_bag.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "learn/ebm_pairs.h"

namespace muster {

EbmBag::EbmBag(const std::vector<BinnedColumn>& fine, const std::vector<BinnedColumn>& coarse,
               const std::vector<double>& target, const EbmOptions& options, double base,
               std::uint64_t seed)
    : fine_(fine), coarse_(coarse), options_(options), random_(seed) {
  order_.resize(target.size());
  std::iota(order_.begin(), order_.end(), 0U);
  // A random part is held out for early stopping; each bag draws another (subbagging: Buehlmann
  // and Yu, 2002).
  random_.shuffle(order_);
  const auto kept = static_cast<std::size_t>(
      std::llround(static_cast<double>(target.size()) * options.validation));
  const std::size_t training = target.size() - std::clamp<std::size_t>(kept, 1, target.size() / 2);
  // In ascending order each part reads the columns front to back.
  std::vector<bool> held_out(target.size(), false);
  for (std::size_t i = training; i < order_.size(); ++i) held_out[order_[i]] = true;
  std::iota(order_.begin(), order_.end(), 0U);
  std::stable_partition(order_.begin(), order_.end(),
                        [&](std::uint32_t row) { return !held_out[row]; });
  std::vector<double> ordered;
  ordered.reserve(target.size());
  for (const std::uint32_t row : order_) ordered.push_back(target[row]);
  rows_ = EbmRows(ordered, training, options.classify, base);
}

// Early stopping: the terms with the least error on the held-out rows are the answer.
double EbmBag::boost(EbmRounds& rounds, const std::vector<TermCells>& terms, int smoothing,
                     EbmScores& best) {
  EbmScores scores;
  for (const TermCells& term : terms) {
    scores.emplace_back(static_cast<std::size_t>(term.count) + 1, 0);
  }
  best = scores;
  double lowest = rounds.begin();
  double mark = lowest;
  int idle = 0;
  for (int round = 0; round < options_.max_rounds && idle < options_.patience; ++round) {
    if (options_.stopped()) break;
    Random* const random = round < smoothing ? &random_ : nullptr;
    const double error = rounds.round(random, scores);
    if (error < lowest) {
      lowest = error;
      best = scores;
    }
    // Small gains do not restart the patience; else boosting would go on for ever by tiny steps.
    // Random rounds may get worse before they get better and never end the run.
    if (error < mark * (1 - options_.tolerance) || random != nullptr) {
      mark = error;
      idle = 0;
    } else {
      ++idle;
    }
  }
  return lowest;
}

TermCells EbmBag::cells_of(const BinnedColumn& column) const {
  TermCells mine;
  mine.count = column.count;
  mine.categorical = column.categorical;
  mine.cells.reserve(order_.size());
  for (const std::uint32_t row : order_) mine.cells.push_back(column.bin[row]);
  return mine;
}

void EbmBag::fit_features() {
  std::vector<TermCells> features;
  for (const BinnedColumn& column : fine_) features.push_back(cells_of(column));
  // Counts work for squared error alone: its curvature does not change with the scores.
  std::optional<CountPlan> plan;
  if (!options_.classify) plan.emplace(features);
  std::unique_ptr<EbmRounds> rounds;
  if (plan && plan->worth(options_.max_leaves)) {
    rounds = std::make_unique<CountRounds>(*plan, features, rows_, options_);
  } else {
    rounds = std::make_unique<RowRounds>(
        features, rows_, options_,
        [&](std::size_t t, const StepSums& sums, const std::vector<double>& rows, Random* random,
            std::vector<double>& step) {
          feature_step(sums, rows, features[t].categorical, options_, random, step);
        });
  }
  if (options_.stopped()) return;
  double lowest = boost(*rounds, features, 0, best_);
  // Smooth effects are learnt better with random first rounds, steps without: both are tried, and
  // the validation rows choose.
  if (options_.smoothing_rounds > 0) {
    EbmScores smooth;
    const double error = boost(*rounds, features, options_.smoothing_rounds, smooth);
    if (error < lowest) best_ = std::move(smooth);
  }
  // Later stages go on from the best state, not from the last.
  rounds->begin();
  for (std::size_t t = 0; t < features.size(); ++t) rows_.apply(features[t].cells, best_[t]);
}

// By the residuals that the features alone leave, for all pairs: O(rows x features^2).
std::vector<double> EbmBag::pair_gains() const {
  const std::size_t features = coarse_.size();
  std::vector<double> gains(features * features, 0);
  std::vector<float> gradient(rows_.training());
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    gradient[i] = static_cast<float>(rows_.gradient_of(i));
  }
  for (std::size_t a = 0; a < features && !options_.stopped(); ++a) {
    for (std::size_t b = a + 1; b < features; ++b) {
      // FAST (Lou, Caruana, Gehrke and Hooker, 2013): the residual by cells of two coarsely binned
      // features, and the best tree of four leaves over it.
      PairHistogram histogram(coarse_[a].count + 1, coarse_[b].count + 1);
      for (std::size_t i = 0; i < gradient.size(); ++i) {
        histogram.add(coarse_[a].bin[order_[i]], coarse_[b].bin[order_[i]], gradient[i]);
      }
      gains[a * features + b] =
          histogram.best_gain(options_.min_leaf) / static_cast<double>(gradient.size());
    }
  }
  return gains;
}

void EbmBag::fit_pairs(const std::vector<BinnedPair>& pairs) {
  std::vector<TermCells> places;
  for (const BinnedColumn& column : coarse_) places.push_back(cells_of(column));
  std::vector<TermCells> cells;
  for (const BinnedPair& pair : pairs) {
    const TermCells& a = places[static_cast<std::size_t>(pair.first)];
    const TermCells& b = places[static_cast<std::size_t>(pair.second)];
    TermCells& mine = cells.emplace_back();
    mine.count = a.count * b.count;
    mine.cells.reserve(order_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) {
      // A cell is a pair of places; a value without a bin in either has no cell.
      const bool none = a.cells[i] == a.count || b.cells[i] == b.count;
      mine.cells.push_back(
          static_cast<std::uint16_t>(none ? mine.count : a.cells[i] * b.count + b.cells[i]));
    }
  }
  PairRounds rounds(cells, places, pairs, rows_, options_);
  boost(rounds, cells, options_.pair_smoothing_rounds, best_pairs_);
}

}  // namespace muster
