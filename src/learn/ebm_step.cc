#include "learn/ebm_step.h"

#include <algorithm>

namespace muster {
namespace {

struct Cut {
  double gain = 0;
  int at = -1;  // the left side ends before this position
};

// Sums over the bins of one feature from the first on, so that any range costs one subtraction.
class FeatureTree {
 public:
  FeatureTree(const std::vector<int>& order, const std::vector<double>& gradient,
              const std::vector<double>& weight, const std::vector<double>& rows, int min_leaf)
      : gradient_(order.size() + 1, 0),
        curve_(order.size() + 1, 0),
        number_(order.size() + 1, 0),
        min_leaf_(min_leaf) {
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto bin = static_cast<std::size_t>(order[i]);
      gradient_[i + 1] = gradient_[i] + gradient[bin];
      curve_[i + 1] = curve_[i] + weight[bin];
      number_[i + 1] = number_[i] + rows[bin];
    }
  }

  // Where the leaves end, the beginning included. Best first: the leaf whose cut explains most is
  // cut next.
  std::vector<int> grow(int max_leaves) const {
    const int filled = static_cast<int>(gradient_.size()) - 1;
    std::vector<int> ends = {0, filled};
    std::vector<Cut> cuts = {best_cut(0, filled)};
    while (static_cast<int>(cuts.size()) < max_leaves) {
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
    return ends;
  }

  // The same with cuts anywhere, each with enough rows on both sides.
  std::vector<int> draw(int max_leaves, Random& random) const {
    const int filled = static_cast<int>(gradient_.size()) - 1;
    std::vector<int> ends = {0, filled};
    for (int i = 1; i < max_leaves && filled > 1; ++i) {
      const auto at = static_cast<int>(random.integer(1, filled - 1));
      const auto next = std::upper_bound(ends.begin(), ends.end(), at);
      const auto m = static_cast<std::size_t>(at);
      const auto low = static_cast<std::size_t>(*(next - 1));
      const auto high = static_cast<std::size_t>(*next);
      if (number_[m] - number_[low] < min_leaf_ || number_[high] - number_[m] < min_leaf_) continue;
      ends.insert(next, at);
    }
    return ends;
  }

  // The Newton step of a leaf, shrunk: its gradients over its curvature.
  double value(std::size_t begin, std::size_t end, double learning_rate) const {
    const double total = curve_[end] - curve_[begin];
    return total > 0 ? learning_rate * (gradient_[end] - gradient_[begin]) / total : 0;
  }

 private:
  // All cuts of a range that leave enough rows on both sides; O(range) by the sums.
  Cut best_cut(int begin, int end) const {
    const auto b = static_cast<std::size_t>(begin);
    const auto e = static_cast<std::size_t>(end);
    Cut best;
    const double whole = gain_of(gradient_[e] - gradient_[b], curve_[e] - curve_[b]);
    for (int at = begin + 1; at < end; ++at) {
      const auto m = static_cast<std::size_t>(at);
      if (number_[m] - number_[b] < min_leaf_) continue;
      if (number_[e] - number_[m] < min_leaf_) break;
      const double gain = gain_of(gradient_[m] - gradient_[b], curve_[m] - curve_[b]) +
                          gain_of(gradient_[e] - gradient_[m], curve_[e] - curve_[m]) - whole;
      if (gain > best.gain) best = {gain, at};
    }
    return best;
  }

  std::vector<double> gradient_;
  std::vector<double> curve_;
  std::vector<double> number_;
  int min_leaf_;
};

// A summed-area table (Crow 1984): sums over all cells above and to the left of each corner of the
// grid, so that any rectangle costs four look-ups.
class Rectangles {
 public:
  Rectangles(const std::vector<double>& cells, int lines, int columns)
      : columns_(static_cast<std::size_t>(columns) + 1),
        sums_((static_cast<std::size_t>(lines) + 1) * columns_, 0) {
    for (std::size_t i = 1; i <= static_cast<std::size_t>(lines); ++i) {
      for (std::size_t j = 1; j < columns_; ++j) {
        const std::size_t cell = (i - 1) * static_cast<std::size_t>(columns) + j - 1;
        const std::size_t k = i * columns_ + j;
        sums_[k] = cells[cell] + sums_[k - 1] + sums_[k - columns_] - sums_[k - columns_ - 1];
      }
    }
  }
  double of(int top, int bottom, int left, int right) const {
    return at(bottom, right) - at(top, right) - at(bottom, left) + at(top, left);
  }

 private:
  double at(int i, int j) const {
    return sums_[static_cast<std::size_t>(i) * columns_ + static_cast<std::size_t>(j)];
  }
  std::size_t columns_;
  std::vector<double> sums_;
};

// One cut of one axis, then a cut of the other axis in each half.
struct PairCuts {
  double gain = 0;
  bool by_first = true;
  int cut = -1;
  int low = 0;
  int high = 0;
};

class PairTree {
 public:
  PairTree(const std::vector<double>& gradient, const std::vector<double>& weight, int first_count,
           int second_count)
      : gradient_(gradient, first_count, second_count),
        curve_(weight, first_count, second_count),
        first_(first_count),
        second_(second_count) {}

  // All trees of this form, O(first x second). Leaves hold at least `least` rows or curvature.
  PairCuts best(double least) const {
    PairCuts best;
    for (const bool by_first : {true, false}) {
      const int outer = by_first ? first_ : second_;
      const int inner = by_first ? second_ : first_;
      for (int cut = 1; cut < outer; ++cut) {
        if (part(curve_, by_first, 0, cut, 0, inner) < least ||
            part(curve_, by_first, cut, outer, 0, inner) < least) {
          continue;
        }
        const Cut low = best_inner(by_first, 0, cut, least);
        const Cut high = best_inner(by_first, cut, outer, least);
        if (low.gain + high.gain > best.gain) {
          best = {low.gain + high.gain, by_first, cut, low.at, high.at};
        }
      }
    }
    return best;
  }

  // Cuts anywhere; a part without rows stays as it is.
  PairCuts draw(Random& random) const {
    PairCuts cuts;
    cuts.by_first = random.chance(0.5);
    const int outer = cuts.by_first ? first_ : second_;
    const int inner = cuts.by_first ? second_ : first_;
    if (outer < 2) return cuts;
    cuts.cut = static_cast<int>(random.integer(1, outer - 1));
    cuts.low = static_cast<int>(random.integer(0, inner - 1));
    cuts.high = static_cast<int>(random.integer(0, inner - 1));
    return cuts;
  }

  void write(const PairCuts& cuts, double learning_rate, std::vector<double>& step) const {
    const int outer = cuts.by_first ? first_ : second_;
    const int inner = cuts.by_first ? second_ : first_;
    const auto fill = [&](int a, int b, int c, int d) {
      if (cuts.by_first) {
        fill_box(a, b, c, d, learning_rate, step);
      } else {
        fill_box(c, d, a, b, learning_rate, step);
      }
    };
    fill(0, cuts.cut, 0, cuts.low);
    fill(0, cuts.cut, cuts.low, inner);
    fill(cuts.cut, outer, 0, cuts.high);
    fill(cuts.cut, outer, cuts.high, inner);
  }

 private:
  // Ranges [a, b) of the axis that is cut first and [c, d) of the other.
  static double part(const Rectangles& sums, bool by_first, int a, int b, int c, int d) {
    return by_first ? sums.of(a, b, c, d) : sums.of(c, d, a, b);
  }

  Cut best_inner(bool by_first, int a, int b, double least) const {
    const int inner = by_first ? second_ : first_;
    Cut found;
    found.gain =
        gain_of(part(gradient_, by_first, a, b, 0, inner), part(curve_, by_first, a, b, 0, inner));
    found.at = 0;
    for (int at = 1; at < inner; ++at) {
      const double left = part(curve_, by_first, a, b, 0, at);
      const double right = part(curve_, by_first, a, b, at, inner);
      if (left < least || right < least) continue;
      const double gain = gain_of(part(gradient_, by_first, a, b, 0, at), left) +
                          gain_of(part(gradient_, by_first, a, b, at, inner), right);
      if (gain > found.gain) found = {gain, at};
    }
    return found;
  }

  void fill_box(int top, int bottom, int left, int right, double learning_rate,
                std::vector<double>& step) const {
    const double total = curve_.of(top, bottom, left, right);
    if (total <= 0) return;
    const double value = learning_rate * gradient_.of(top, bottom, left, right) / total;
    for (int i = top; i < bottom; ++i) {
      for (int j = left; j < right; ++j) {
        step[static_cast<std::size_t>(i) * static_cast<std::size_t>(second_) +
             static_cast<std::size_t>(j)] = value;
      }
    }
  }

  Rectangles gradient_;
  Rectangles curve_;
  int first_;
  int second_;
};

}  // namespace

void feature_step(const StepSums& sums, const std::vector<double>& rows, bool categorical,
                  const EbmOptions& options, Random* random, std::vector<double>& step) {
  const auto count = static_cast<int>(step.size()) - 1;  // the last cell has no bin
  std::vector<int> order;
  for (int bin = 0; bin < count; ++bin) {
    if (rows[static_cast<std::size_t>(bin)] > 0) order.push_back(bin);
  }
  const std::vector<double>& weight = options.classify ? sums.weight : rows;
  // Categories in the order of their mean gradient: a best cut in two lies between neighbours of
  // that order (Fisher, 1958).
  if (categorical) {
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      const auto i = static_cast<std::size_t>(a);
      const auto j = static_cast<std::size_t>(b);
      return sums.gradient[i] * weight[j] < sums.gradient[j] * weight[i];
    });
  }
  const FeatureTree tree(order, sums.gradient, weight, rows, options.min_leaf);
  const std::vector<int> ends =
      random != nullptr ? tree.draw(options.max_leaves, *random) : tree.grow(options.max_leaves);
  for (std::size_t leaf = 0; leaf + 1 < ends.size(); ++leaf) {
    const auto begin = static_cast<std::size_t>(ends[leaf]);
    const auto end = static_cast<std::size_t>(ends[leaf + 1]);
    const double value = tree.value(begin, end, options.learning_rate);
    for (std::size_t i = begin; i < end; ++i) step[static_cast<std::size_t>(order[i])] = value;
  }
}

void pair_step(const StepSums& sums, const std::vector<double>& rows, int first_count,
               int second_count, const EbmOptions& options, Random* random,
               std::vector<double>& step) {
  const PairTree tree(sums.gradient, options.classify ? sums.weight : rows, first_count,
                      second_count);
  const PairCuts cuts = random != nullptr ? tree.draw(*random)
                                          : tree.best(options.classify ? 1e-3 : options.min_leaf);
  if (cuts.cut >= 0) tree.write(cuts, options.learning_rate, step);
}

}  // namespace muster
