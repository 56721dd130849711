#include "learn/ebm_bag.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "learn/ebm_pairs.h"

namespace muster {

EbmBag::EbmBag(const std::vector<BinnedColumn>& fine, const std::vector<BinnedColumn>& coarse,
               const std::vector<double>& target, const EbmOptions& options, double base,
               std::uint64_t seed)
    : fine_(fine), coarse_(coarse), options_(options), random_(seed) {
  order_.resize(target.size());
  std::iota(order_.begin(), order_.end(), 0U);
  random_.shuffle(order_);
  const auto kept = static_cast<std::size_t>(
      std::llround(static_cast<double>(target.size()) * options.validation));
  training_ = target.size() - std::clamp<std::size_t>(kept, 1, target.size() / 2);
  // In ascending order each part reads the columns front to back.
  std::sort(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(training_));
  std::sort(order_.begin() + static_cast<std::ptrdiff_t>(training_), order_.end());
  // Of squared error only the residual counts: the score is kept less the target.
  if (!options_.classify) {
    for (const std::uint32_t row : order_) {
      score_.push_back(static_cast<float>(base - target[row]));
    }
    return;
  }
  for (const std::uint32_t row : order_) target_.push_back(static_cast<float>(target[row]));
  score_.assign(target.size(), static_cast<float>(base));
}

// The negative gradient of the loss at a row: target minus prediction, in log loss minus
// probability.
double EbmBag::gradient_of(std::size_t i) const {
  if (!options_.classify) return -score_[i];
  return target_[i] - 1 / (1 + std::exp(-static_cast<double>(score_[i])));
}

// Gradients and, for log loss, curvatures p (1 - p), added up by bin: all that a step needs.
void EbmBag::sum_up(const Cells& cells, int count, StepSums& sums) const {
  sums.gradient.assign(static_cast<std::size_t>(count) + 1, 0);
  if (!options_.classify) {
    odd_.assign(sums.gradient.size(), 0);
    std::size_t i = 0;
    for (; i + 1 < training_; i += 2) {
      sums.gradient[cells[i]] -= static_cast<double>(score_[i]);
      odd_[cells[i + 1]] -= static_cast<double>(score_[i + 1]);
    }
    if (i < training_) sums.gradient[cells[i]] -= static_cast<double>(score_[i]);
    for (std::size_t b = 0; b < odd_.size(); ++b) sums.gradient[b] += odd_[b];
    return;
  }
  sums.weight.assign(static_cast<std::size_t>(count) + 1, 0);
  for (std::size_t i = 0; i < training_; ++i) {
    const double p = 1 / (1 + std::exp(-static_cast<double>(score_[i])));
    sums.gradient[cells[i]] += target_[i] - p;
    sums.weight[cells[i]] += p * (1 - p);
  }
}

void EbmBag::apply_and_sum(const Cells& applied, const std::vector<double>& step,
                           const Cells& cells, int count, StepSums& sums) {
  const std::vector<float> change(step.begin(), step.end());
  sums.gradient.assign(static_cast<std::size_t>(count) + 1, 0);
  odd_.assign(sums.gradient.size(), 0);
  // Neighbouring rows often fall into the same bin; with two tables neither waits for the other.
  std::size_t i = 0;
  for (; i + 1 < training_; i += 2) {
    const float even = score_[i] + change[applied[i]];
    const float odd = score_[i + 1] + change[applied[i + 1]];
    score_[i] = even;
    score_[i + 1] = odd;
    sums.gradient[cells[i]] -= static_cast<double>(even);
    odd_[cells[i + 1]] -= static_cast<double>(odd);
  }
  if (i < training_) {
    score_[i] += change[applied[i]];
    sums.gradient[cells[i]] -= static_cast<double>(score_[i]);
  }
  for (std::size_t b = 0; b < odd_.size(); ++b) sums.gradient[b] += odd_[b];
  for (i = training_; i < score_.size(); ++i) score_[i] += change[applied[i]];
}

void EbmBag::apply(const Cells& cells, const std::vector<double>& step) {
  std::vector<float> change(step.begin(), step.end());
  for (std::size_t i = 0; i < score_.size(); ++i) score_[i] += change[cells[i]];
}

// Mean squared error or mean log loss on the rows that were held out.
double EbmBag::validation_error() const {
  double sum = 0;
  for (std::size_t i = training_; i < score_.size(); ++i) {
    if (options_.classify) {
      const double margin = target_[i] > 0.5F ? score_[i] : -score_[i];
      sum += margin > 0 ? std::log1p(std::exp(-margin)) : -margin + std::log1p(std::exp(margin));
    } else {
      sum += static_cast<double>(score_[i]) * score_[i];
    }
  }
  return sum / static_cast<double>(score_.size() - training_);
}

// Cyclic gradient boosting (Lou, Caruana and Gehrke, 2012): each round takes a small step on every
// term in turn, so that no term explains what another one should. Early stopping: the terms with
// the least error on the held-out rows are the answer. O(rounds x terms x rows).
double EbmBag::boost(const std::vector<Cells>& cells, const std::vector<int>& counts,
                     const std::vector<BinnedPair>* pairs, int smoothing,
                     std::vector<std::vector<double>>& best) {
  std::vector<std::vector<double>> scores;
  std::vector<StepSums> rows(cells.size());
  for (std::size_t t = 0; t < cells.size(); ++t) {
    scores.emplace_back(static_cast<std::size_t>(counts[t]) + 1, 0);
    rows[t].weight.assign(static_cast<std::size_t>(counts[t]) + 1, 0);
    for (std::size_t i = 0; i < training_; ++i) rows[t].weight[cells[t][i]] += 1;
  }
  best = scores;
  const std::vector<float> before = score_;
  double lowest = validation_error();
  double mark = lowest;
  int idle = 0;
  StepSums sums;
  std::vector<double> step;
  for (int round = 0; round < options_.max_rounds && idle < options_.patience; ++round) {
    if (options_.stopped()) break;
    Random* const random = round < smoothing ? &random_ : nullptr;
    for (std::size_t t = 0; t < cells.size(); ++t) {
      // One pass over the rows applies the step before and sums up for this one.
      if (options_.classify || t == 0) {
        sum_up(cells[t], counts[t], sums);
      } else {
        apply_and_sum(cells[t - 1], step, cells[t], counts[t], sums);
      }
      step.assign(scores[t].size(), 0);
      if (pairs == nullptr) {
        feature_step(sums, rows[t].weight, fine_[t].categorical, options_, random, step);
      } else {
        const BinnedPair& pair = (*pairs)[t];
        pair_step(sums, rows[t].weight, coarse_[static_cast<std::size_t>(pair.first)].count,
                  coarse_[static_cast<std::size_t>(pair.second)].count, options_, random, step);
      }
      if (options_.classify || t + 1 == cells.size()) apply(cells[t], step);
      for (std::size_t b = 0; b < step.size(); ++b) scores[t][b] += step[b];
    }
    const double error = validation_error();
    if (error < lowest) {
      lowest = error;
      best = scores;
    }
    if (error < mark * (1 - options_.tolerance) || random != nullptr) {
      mark = error;
      idle = 0;
    } else {
      ++idle;
    }
  }
  // Later stages go on from the best state, not from the last.
  score_ = before;
  for (std::size_t t = 0; t < cells.size(); ++t) apply(cells[t], best[t]);
  return lowest;
}

void EbmBag::fit_features() {
  std::vector<Cells> cells;
  std::vector<int> counts;
  for (const BinnedColumn& column : fine_) {
    Cells& mine = cells.emplace_back();
    mine.reserve(order_.size());
    for (const std::uint32_t row : order_) mine.push_back(column.bin[row]);
    counts.push_back(column.count);
  }
  const std::vector<float> before = score_;
  const double error = boost(cells, counts, nullptr, 0, best_);
  if (options_.smoothing_rounds == 0) return;
  // Smooth effects are learnt better with random first rounds, steps without: both are tried, and
  // the validation rows choose.
  std::vector<float> after = std::exchange(score_, before);
  std::vector<std::vector<double>> smooth;
  if (boost(cells, counts, nullptr, options_.smoothing_rounds, smooth) < error) {
    best_ = std::move(smooth);
  } else {
    score_ = std::move(after);
  }
}

// By the residuals that the features alone leave, for all pairs: O(rows x features^2).
std::vector<double> EbmBag::pair_gains() const {
  const std::size_t features = coarse_.size();
  std::vector<double> gains(features * features, 0);
  std::vector<float> gradient(training_);
  for (std::size_t i = 0; i < training_; ++i) gradient[i] = static_cast<float>(gradient_of(i));
  for (std::size_t a = 0; a < features && !options_.stopped(); ++a) {
    for (std::size_t b = a + 1; b < features; ++b) {
      PairHistogram histogram(coarse_[a].count + 1, coarse_[b].count + 1);
      for (std::size_t i = 0; i < training_; ++i) {
        histogram.add(coarse_[a].bin[order_[i]], coarse_[b].bin[order_[i]], gradient[i]);
      }
      gains[a * features + b] =
          histogram.best_gain(options_.min_leaf) / static_cast<double>(training_);
    }
  }
  return gains;
}

void EbmBag::fit_pairs(const std::vector<BinnedPair>& pairs) {
  std::vector<Cells> cells;
  std::vector<int> counts;
  for (const BinnedPair& pair : pairs) {
    const BinnedColumn& a = coarse_[static_cast<std::size_t>(pair.first)];
    const BinnedColumn& b = coarse_[static_cast<std::size_t>(pair.second)];
    const int count = a.count * b.count;
    Cells& mine = cells.emplace_back();
    mine.reserve(order_.size());
    for (const std::uint32_t row : order_) {
      const bool none = a.bin[row] == a.count || b.bin[row] == b.count;
      mine.push_back(static_cast<std::uint16_t>(none ? count : a.bin[row] * b.count + b.bin[row]));
    }
    counts.push_back(count);
  }
  boost(cells, counts, &pairs, options_.pair_smoothing_rounds, best_pairs_);
}

}  // namespace muster
