#include "learn/ebm_bag.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace muster {
namespace {

// What a leaf explains: the square of its gradients over its rows or curvature.
double gain_of(double gradient, double weight) {
  return weight > 0 ? gradient * gradient / weight : 0;
}

struct Cut {
  double gain = 0;
  int at = -1;  // the left side ends before this position
};

}  // namespace

EbmBag::EbmBag(const std::vector<BinnedColumn>& fine, const std::vector<BinnedColumn>& coarse,
               const std::vector<double>& target, const EbmOptions& options, double base,
               std::uint64_t seed)
    : fine_(fine), coarse_(coarse), options_(options) {
  order_.resize(target.size());
  std::iota(order_.begin(), order_.end(), 0U);
  Random random(seed);
  random.shuffle(order_);
  const auto kept = static_cast<std::size_t>(
      std::llround(static_cast<double>(target.size()) * options.validation));
  training_ = target.size() - std::clamp<std::size_t>(kept, 1, target.size() / 2);
  // In ascending order each part reads the columns front to back.
  std::sort(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(training_));
  std::sort(order_.begin() + static_cast<std::ptrdiff_t>(training_), order_.end());
  if (!options_.classify) {
    for (const std::uint32_t row : order_) {
      score_.push_back(static_cast<float>(base - target[row]));
    }
    return;
  }
  for (const std::uint32_t row : order_) target_.push_back(static_cast<float>(target[row]));
  score_.assign(target.size(), static_cast<float>(base));
}

double EbmBag::gradient_of(std::size_t i) const {
  if (!options_.classify) return -score_[i];
  return target_[i] - 1 / (1 + std::exp(-static_cast<double>(score_[i])));
}

void EbmBag::sum_up(const Cells& cells, int count, Sums& sums) const {
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
                           const Cells& cells, int count, Sums& sums) {
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

void EbmBag::feature_step(const Sums& sums, const Sums& rows, bool categorical,
                          std::vector<double>& step) const {
  const auto count = static_cast<int>(step.size()) - 1;  // the last cell has no bin
  // Categories have no order of their own: they are cut in the order of what they want.
  std::vector<int> order;
  for (int bin = 0; bin < count; ++bin) {
    if (rows.weight[static_cast<std::size_t>(bin)] > 0) order.push_back(bin);
  }
  const std::vector<double>& weight = options_.classify ? sums.weight : rows.weight;
  if (categorical) {
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      const auto i = static_cast<std::size_t>(a);
      const auto j = static_cast<std::size_t>(b);
      return sums.gradient[i] * weight[j] < sums.gradient[j] * weight[i];
    });
  }
  const auto filled = static_cast<int>(order.size());
  std::vector<double> gradient(order.size() + 1, 0);
  std::vector<double> curve(order.size() + 1, 0);
  std::vector<double> number(order.size() + 1, 0);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto bin = static_cast<std::size_t>(order[i]);
    gradient[i + 1] = gradient[i] + sums.gradient[bin];
    curve[i + 1] = curve[i] + weight[bin];
    number[i + 1] = number[i] + rows.weight[bin];
  }
  const auto best_cut = [&](int begin, int end) {
    const auto b = static_cast<std::size_t>(begin);
    const auto e = static_cast<std::size_t>(end);
    Cut best;
    const double whole = gain_of(gradient[e] - gradient[b], curve[e] - curve[b]);
    for (int at = begin + 1; at < end; ++at) {
      const auto m = static_cast<std::size_t>(at);
      if (number[m] - number[b] < options_.min_leaf) continue;
      if (number[e] - number[m] < options_.min_leaf) break;
      const double gain = gain_of(gradient[m] - gradient[b], curve[m] - curve[b]) +
                          gain_of(gradient[e] - gradient[m], curve[e] - curve[m]) - whole;
      if (gain > best.gain) best = {gain, at};
    }
    return best;
  };
  // Best first: the leaf whose cut explains most is cut next.
  std::vector<int> ends = {0, filled};
  std::vector<Cut> cuts = {best_cut(0, filled)};
  while (static_cast<int>(cuts.size()) < options_.max_leaves) {
    std::size_t chosen = 0;
    for (std::size_t i = 1; i < cuts.size(); ++i) {
      if (cuts[i].gain > cuts[chosen].gain) chosen = i;
    }
    const Cut cut = cuts[chosen];
    if (cut.at < 0) break;
    const auto where = static_cast<std::ptrdiff_t>(chosen);
    ends.insert(ends.begin() + where + 1, cut.at);
    cuts[chosen] = best_cut(ends[chosen], cut.at);
    cuts.insert(cuts.begin() + where + 1, best_cut(cut.at, ends[chosen + 2]));
  }
  for (std::size_t leaf = 0; leaf + 1 < ends.size(); ++leaf) {
    const auto b = static_cast<std::size_t>(ends[leaf]);
    const auto e = static_cast<std::size_t>(ends[leaf + 1]);
    const double total = curve[e] - curve[b];
    const double value =
        total > 0 ? options_.learning_rate * (gradient[e] - gradient[b]) / total : 0;
    for (std::size_t i = b; i < e; ++i) step[static_cast<std::size_t>(order[i])] = value;
  }
}

void EbmBag::pair_step(const Sums& sums, const Sums& rows, int first_count, int second_count,
                       std::vector<double>& step) const {
  const std::vector<double>& weight = options_.classify ? sums.weight : rows.weight;
  const auto columns = static_cast<std::size_t>(second_count) + 1;
  const auto lines = static_cast<std::size_t>(first_count) + 1;
  // Sums over all cells above and to the left.
  std::vector<double> gradient(lines * columns, 0);
  std::vector<double> curve(lines * columns, 0);
  for (std::size_t i = 1; i < lines; ++i) {
    for (std::size_t j = 1; j < columns; ++j) {
      const std::size_t cell = (i - 1) * static_cast<std::size_t>(second_count) + j - 1;
      const std::size_t k = i * columns + j;
      gradient[k] =
          sums.gradient[cell] + gradient[k - 1] + gradient[k - columns] - gradient[k - columns - 1];
      curve[k] = weight[cell] + curve[k - 1] + curve[k - columns] - curve[k - columns - 1];
    }
  }
  const auto box = [columns](const std::vector<double>& s, int top, int bottom, int left,
                             int right) {
    const auto at = [&](int i, int j) {
      return s[static_cast<std::size_t>(i) * columns + static_cast<std::size_t>(j)];
    };
    return at(bottom, right) - at(top, right) - at(bottom, left) + at(top, left);
  };
  // One cut of one axis, then a cut of the other axis in each half.
  struct Plan {
    double gain = 0;
    bool by_first = true;
    int cut = -1;
    int low = 0;
    int high = 0;
  };
  Plan best;
  const double least = options_.classify ? 1e-3 : options_.min_leaf;
  for (const bool by_first : {true, false}) {
    const int outer = by_first ? first_count : second_count;
    const int inner = by_first ? second_count : first_count;
    const auto part = [&](const std::vector<double>& s, int a, int b, int c, int d) {
      return by_first ? box(s, a, b, c, d) : box(s, c, d, a, b);
    };
    const auto best_inner = [&](int a, int b) {
      Cut found;
      found.gain = gain_of(part(gradient, a, b, 0, inner), part(curve, a, b, 0, inner));
      found.at = 0;
      for (int at = 1; at < inner; ++at) {
        const double left = part(curve, a, b, 0, at);
        const double right = part(curve, a, b, at, inner);
        if (left < least || right < least) continue;
        const double gain = gain_of(part(gradient, a, b, 0, at), left) +
                            gain_of(part(gradient, a, b, at, inner), right);
        if (gain > found.gain) found = {gain, at};
      }
      return found;
    };
    for (int cut = 1; cut < outer; ++cut) {
      if (part(curve, 0, cut, 0, inner) < least || part(curve, cut, outer, 0, inner) < least) {
        continue;
      }
      const Cut low = best_inner(0, cut);
      const Cut high = best_inner(cut, outer);
      if (low.gain + high.gain > best.gain) {
        best = {low.gain + high.gain, by_first, cut, low.at, high.at};
      }
    }
  }
  if (best.cut < 0) return;
  const auto fill = [&](int a, int b, int c, int d) {
    const int top = best.by_first ? a : c;
    const int bottom = best.by_first ? b : d;
    const int left = best.by_first ? c : a;
    const int right = best.by_first ? d : b;
    const double total = box(curve, top, bottom, left, right);
    if (total <= 0) return;
    const double value = options_.learning_rate * box(gradient, top, bottom, left, right) / total;
    for (int i = top; i < bottom; ++i) {
      for (int j = left; j < right; ++j) {
        step[static_cast<std::size_t>(i) * static_cast<std::size_t>(second_count) +
             static_cast<std::size_t>(j)] = value;
      }
    }
  };
  const int outer = best.by_first ? first_count : second_count;
  const int inner = best.by_first ? second_count : first_count;
  fill(0, best.cut, 0, best.low);
  fill(0, best.cut, best.low, inner);
  fill(best.cut, outer, 0, best.high);
  fill(best.cut, outer, best.high, inner);
}

void EbmBag::boost(const std::vector<Cells>& cells, const std::vector<int>& counts,
                   const std::vector<BinnedPair>* pairs, std::vector<std::vector<double>>& best) {
  std::vector<std::vector<double>> scores;
  std::vector<Sums> rows(cells.size());
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
  Sums sums;
  std::vector<double> step;
  for (int round = 0; round < options_.max_rounds && idle < options_.patience; ++round) {
    for (std::size_t t = 0; t < cells.size(); ++t) {
      // One pass over the rows applies the step before and sums up for this one.
      if (options_.classify || t == 0) {
        sum_up(cells[t], counts[t], sums);
      } else {
        apply_and_sum(cells[t - 1], step, cells[t], counts[t], sums);
      }
      step.assign(scores[t].size(), 0);
      if (pairs == nullptr) {
        feature_step(sums, rows[t], fine_[t].categorical, step);
      } else {
        const BinnedPair& pair = (*pairs)[t];
        pair_step(sums, rows[t], coarse_[static_cast<std::size_t>(pair.first)].count,
                  coarse_[static_cast<std::size_t>(pair.second)].count, step);
      }
      if (options_.classify || t + 1 == cells.size()) apply(cells[t], step);
      for (std::size_t b = 0; b < step.size(); ++b) scores[t][b] += step[b];
    }
    const double error = validation_error();
    if (error < lowest) {
      lowest = error;
      best = scores;
    }
    if (error < mark * (1 - options_.tolerance)) {
      mark = error;
      idle = 0;
    } else {
      ++idle;
    }
  }
  // Later stages go on from the best state, not from the last.
  score_ = before;
  for (std::size_t t = 0; t < cells.size(); ++t) apply(cells[t], best[t]);
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
  boost(cells, counts, nullptr, best_);
}

std::vector<double> EbmBag::pair_gains() const {
  const std::size_t features = coarse_.size();
  std::vector<double> gains(features * features, 0);
  std::vector<float> gradient(training_);
  for (std::size_t i = 0; i < training_; ++i) gradient[i] = static_cast<float>(gradient_of(i));
  for (std::size_t a = 0; a < features; ++a) {
    for (std::size_t b = a + 1; b < features; ++b) {
      const auto rows = static_cast<std::size_t>(coarse_[a].count) + 1;
      const auto columns = static_cast<std::size_t>(coarse_[b].count) + 1;
      std::vector<double> g(rows * columns, 0);
      std::vector<double> n(rows * columns, 0);
      for (std::size_t i = 0; i < training_; ++i) {
        const std::size_t cell = coarse_[a].bin[order_[i]] * columns + coarse_[b].bin[order_[i]];
        g[cell] += gradient[i];
        n[cell] += 1;
      }
      for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < columns; ++j) {
          const std::size_t k = i * columns + j;
          if (j > 0) {
            g[k] += g[k - 1];
            n[k] += n[k - 1];
          }
        }
        for (std::size_t j = 0; i > 0 && j < columns; ++j) {
          g[i * columns + j] += g[(i - 1) * columns + j];
          n[i * columns + j] += n[(i - 1) * columns + j];
        }
      }
      double best = 0;
      const std::size_t last = rows * columns - 1;
      for (std::size_t i = 0; i + 1 < rows; ++i) {
        for (std::size_t j = 0; j + 1 < columns; ++j) {
          const std::size_t k = i * columns + j;
          const std::size_t side = i * columns + columns - 1;
          const std::size_t below = (rows - 1) * columns + j;
          const double n1 = n[k];
          const double n2 = n[side] - n1;
          const double n3 = n[below] - n1;
          const double n4 = n[last] - n1 - n2 - n3;
          if (std::min({n1, n2, n3, n4}) < options_.min_leaf) continue;
          const double g1 = g[k];
          const double g2 = g[side] - g1;
          const double g3 = g[below] - g1;
          const double g4 = g[last] - g1 - g2 - g3;
          best = std::max(best, gain_of(g1, n1) + gain_of(g2, n2) + gain_of(g3, n3) +
                                    gain_of(g4, n4) - gain_of(g[last], n[last]));
        }
      }
      gains[a * features + b] = best / static_cast<double>(training_);
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
  boost(cells, counts, &pairs, best_pairs_);
}

}  // namespace muster
