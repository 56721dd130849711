// How a bag of an explainable boosting machine (learn/ebm_bag.h) takes its rounds: one small step
// on every term in turn, so that no term explains what another one should (cyclic gradient
// boosting: Lou, Caruana and Gehrke, 2012). There are three ways, which give the same scores
// except for rounding:
//
// clang-format off
//   RowRounds    passes over the rows: any loss, any terms. O(rows x terms) a round.
//   CountRounds  single features by tables of counts: squared error. No rows (learn/ebm_counts.h).
//   PairRounds   pairs: random cuts of several pairs in one pass (learn/ebm_boxes.h), else as
//                RowRounds.
// clang-format on
#pragma once

#include <functional>
#include <vector>

#include "base/random.h"
#include "learn/ebm_boxes.h"
#include "learn/ebm_counts.h"
#include "learn/ebm_rows.h"

namespace muster {

using EbmScores = std::vector<std::vector<double>>;  // by term, then bin or cell

class EbmRounds {
 public:
  virtual ~EbmRounds() = default;
  // Goes back to the scores that the rows had before the first round, and says the validation
  // error.
  virtual double begin() = 0;
  // A step on every term, added to `scores`; cut at random if there is a `random`. The validation
  // error after it. What the rows hold between rounds is up to the way they are taken.
  virtual double round(Random* random, EbmScores& scores) = 0;
};

class RowRounds : public EbmRounds {
 public:
  // Makes the step on a term from its sums and the rows of its bins.
  using Step =
      std::function<void(std::size_t term, const StepSums& sums, const std::vector<double>& rows,
                         Random* random, std::vector<double>& step)>;
  RowRounds(const std::vector<TermCells>& terms, EbmRows& rows, const EbmOptions& options,
            Step step);
  double begin() override;
  double round(Random* random, EbmScores& scores) override;

 private:
  const std::vector<TermCells>& terms_;
  EbmRows& rows_;
  bool classify_;
  Step make_step_;
  EbmScores rows_of_;  // training rows by term, then bin
  std::vector<float> before_;
  StepSums sums_;
  std::vector<double> step_;
};

class CountRounds : public EbmRounds {
 public:
  CountRounds(const CountPlan& plan, const std::vector<TermCells>& features, EbmRows& rows,
              const EbmOptions& options);
  double begin() override;
  double round(Random* random, EbmScores& scores) override;

 private:
  const std::vector<TermCells>& features_;
  EbmRows& rows_;
  const EbmOptions& options_;
  BinCounts training_counts_;
  BinCounts held_out_counts_;
  BinSums training_;
  BinSums held_out_;
  std::vector<float> before_;
  StepSums sums_;
  std::vector<double> step_;
};

class PairRounds : public EbmRounds {
 public:
  // `places`: the coarse bins by feature.
  PairRounds(const std::vector<TermCells>& cells, const std::vector<TermCells>& places,
             const std::vector<BinnedPair>& pairs, EbmRows& rows, const EbmOptions& options);
  double begin() override;
  double round(Random* random, EbmScores& scores) override;

 private:
  EbmRows& rows_;
  bool classify_;
  RowRounds best_cuts_;  // all rounds of log loss
  PairBoxes random_cuts_;
};

}  // namespace muster
