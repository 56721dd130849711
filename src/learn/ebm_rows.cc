#include "learn/ebm_rows.h"

#include <cmath>

namespace muster {

// In regression the score is kept less the target: then it is the negative residual, which is all
// that squared error asks for, and no pass has to read the targets.
EbmRows::EbmRows(const std::vector<double>& target, std::size_t training, bool classify,
                 double base)
    : classify_(classify), training_(training) {
  score.reserve(target.size());
  for (const double value : target) {
    score.push_back(static_cast<float>(classify ? base : base - value));
  }
  if (classify) target_.assign(target.begin(), target.end());
}

// The negative derivative of the loss by the score: the residual, or label minus probability.
double EbmRows::gradient_of(std::size_t i) const {
  if (!classify_) return -score[i];
  return target_[i] - 1 / (1 + std::exp(-static_cast<double>(score[i])));
}

// The histogram of gradients by cell (of curvature as well in classification, where p(1-p) is the
// second derivative of log loss). One pass, O(training rows). Held-out rows are not in it.
void EbmRows::sum_up(const Cells& cells, int count, StepSums& sums) const {
  sums.gradient.assign(static_cast<std::size_t>(count) + 1, 0);
  if (!classify_) {
    odd_.assign(sums.gradient.size(), 0);
    std::size_t i = 0;
    for (; i + 1 < training_; i += 2) {
      sums.gradient[cells[i]] -= static_cast<double>(score[i]);
      odd_[cells[i + 1]] -= static_cast<double>(score[i + 1]);
    }
    if (i < training_) sums.gradient[cells[i]] -= static_cast<double>(score[i]);
    for (std::size_t b = 0; b < odd_.size(); ++b) sums.gradient[b] += odd_[b];
    return;
  }
  sums.weight.assign(static_cast<std::size_t>(count) + 1, 0);
  for (std::size_t i = 0; i < training_; ++i) {
    const double p = 1 / (1 + std::exp(-static_cast<double>(score[i])));
    sums.gradient[cells[i]] += target_[i] - p;
    sums.weight[cells[i]] += p * (1 - p);
  }
}

void EbmRows::apply_and_sum(const Cells& applied, const std::vector<double>& step,
                            const Cells& cells, int count, StepSums& sums) {
  const std::vector<float> change(step.begin(), step.end());
  sums.gradient.assign(static_cast<std::size_t>(count) + 1, 0);
  odd_.assign(sums.gradient.size(), 0);
  // Neighbouring rows often fall into the same bin; with two tables neither waits for the other.
  std::size_t i = 0;
  for (; i + 1 < training_; i += 2) {
    const float even = score[i] + change[applied[i]];
    const float odd = score[i + 1] + change[applied[i + 1]];
    score[i] = even;
    score[i + 1] = odd;
    sums.gradient[cells[i]] -= static_cast<double>(even);
    odd_[cells[i + 1]] -= static_cast<double>(odd);
  }
  if (i < training_) {
    score[i] += change[applied[i]];
    sums.gradient[cells[i]] -= static_cast<double>(score[i]);
  }
  for (std::size_t b = 0; b < odd_.size(); ++b) sums.gradient[b] += odd_[b];
  // Held-out rows take the step, too: they say when to stop.
  for (i = training_; i < score.size(); ++i) score[i] += change[applied[i]];
}

void EbmRows::apply(const Cells& cells, const std::vector<double>& step) {
  const std::vector<float> change(step.begin(), step.end());
  for (std::size_t i = 0; i < score.size(); ++i) score[i] += change[cells[i]];
}

// Mean squared error, or mean log loss, of the held-out rows. log(1 + exp(-m)) is computed from the
// exponential that cannot overflow.
double EbmRows::validation_error() const {
  double sum = 0;
  for (std::size_t i = training_; i < score.size(); ++i) {
    if (classify_) {
      const double margin = target_[i] > 0.5F ? score[i] : -score[i];
      sum += margin > 0 ? std::log1p(std::exp(-margin)) : -margin + std::log1p(std::exp(margin));
    } else {
      sum += static_cast<double>(score[i]) * score[i];
    }
  }
  return sum / static_cast<double>(score.size() - training_);
}

}  // namespace muster
