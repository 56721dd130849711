#include "learn/ebm_rounds.h"

#include <algorithm>
#include <utility>

namespace muster {

// The general way to take a round: every term reads every row, O(rows x terms). It works for any
// loss, also for log loss, where a row's curvature changes with its score.
RowRounds::RowRounds(const std::vector<TermCells>& terms, EbmRows& rows, const EbmOptions& options,
                     Step step)
    : terms_(terms),
      rows_(rows),
      classify_(options.classify),
      make_step_(std::move(step)),
      before_(rows.score) {
  for (const TermCells& term : terms) {
    std::vector<double>& mine = rows_of_.emplace_back(static_cast<std::size_t>(term.count) + 1, 0);
    for (std::size_t i = 0; i < rows.training(); ++i) mine[term.cells[i]] += 1;
  }
}

// Several runs of boosting start from the same scores (EbmBag::fit_features), so they are put back.
double RowRounds::begin() {
  rows_.score = before_;
  return rows_.validation_error();
}

double RowRounds::round(Random* random, EbmScores& scores) {
  for (std::size_t t = 0; t < terms_.size(); ++t) {
    // One pass over the rows applies the step before and sums up for this one.
    if (classify_ || t == 0) {
      rows_.sum_up(terms_[t].cells, terms_[t].count, sums_);
    } else {
      rows_.apply_and_sum(terms_[t - 1].cells, step_, terms_[t].cells, terms_[t].count, sums_);
    }
    step_.assign(scores[t].size(), 0);
    make_step_(t, sums_, rows_of_[t], random, step_);
    // Squared error leaves the step to the next pass over the rows, which adds it for nothing. In
    // classification the curvature depends on the new scores, so they must be there first.
    if (classify_ || t + 1 == terms_.size()) rows_.apply(terms_[t].cells, step_);
    for (std::size_t b = 0; b < step_.size(); ++b) scores[t][b] += step_[b];
  }
  return rows_.validation_error();
}

// Covariance updates (Friedman, Hastie and Tibshirani, 2010, section 2.2, for the lasso): with
// squared error, what a step on one feature does to the sums of all others follows from how many
// rows each pair of bins shares. Rounds then cost nothing that depends on the number of rows.
CountRounds::CountRounds(const CountPlan& plan, const std::vector<TermCells>& features,
                         EbmRows& rows, const EbmOptions& options)
    : features_(features),
      rows_(rows),
      options_(options),
      training_counts_(plan, features, 0, rows.training(), options),
      held_out_counts_(plan, features, rows.training(), rows.count(), options),
      before_(rows.score) {}

double CountRounds::begin() {
  rows_.score = before_;
  training_ = training_counts_.sum_up(features_, rows_.score);
  held_out_ = held_out_counts_.sum_up(features_, rows_.score);
  return rows_.validation_error();
}

double CountRounds::round(Random* random, EbmScores& scores) {
  for (std::size_t t = 0; t < features_.size(); ++t) {
    training_counts_.read(training_, t, sums_.gradient);
    step_.assign(scores[t].size(), 0);
    feature_step(sums_, training_counts_.rows(t), features_[t].categorical, options_, random,
                 step_);
    training_counts_.take(t, step_, training_);
    held_out_counts_.take(t, step_, held_out_);
    for (std::size_t b = 0; b < step_.size(); ++b) scores[t][b] += step_[b];
  }
  // The sum of squares is updated, not summed up anew; rounding may bring it below zero.
  const auto held_out = static_cast<double>(rows_.count() - rows_.training());
  return std::max(0.0, held_out_.square) / held_out;
}

// Two ways in one: steps that search for the best cuts need sums by cell, steps with drawn cuts
// need sums by box alone, which are far cheaper (learn/ebm_boxes.h).
PairRounds::PairRounds(const std::vector<TermCells>& cells, const std::vector<TermCells>& places,
                       const std::vector<BinnedPair>& pairs, EbmRows& rows,
                       const EbmOptions& options)
    : rows_(rows),
      classify_(options.classify),
      best_cuts_(cells, rows, options,
                 [&](std::size_t t, const StepSums& sums, const std::vector<double>& rows_of,
                     Random* random, std::vector<double>& step) {
                   const auto first = static_cast<std::size_t>(pairs[t].first);
                   const auto second = static_cast<std::size_t>(pairs[t].second);
                   pair_step(sums, rows_of, places[first].count, places[second].count, options,
                             random, step);
                 }),
      random_cuts_(places, pairs, rows, options.learning_rate) {}

double PairRounds::begin() { return best_cuts_.begin(); }

double PairRounds::round(Random* random, EbmScores& scores) {
  if (random == nullptr || classify_) return best_cuts_.round(random, scores);
  random_cuts_.round(*random, rows_, scores);
  return rows_.validation_error();
}

}  // namespace muster
