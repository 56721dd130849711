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
  // cut next. Only the two halves of a leaf that was cut are searched again. O(leaves x bins).
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
  // With `turned`, lines are columns and columns lines.
  Rectangles(const std::vector<double>& cells, int lines, int columns, bool turned)
      : lines_(static_cast<std::size_t>(turned ? columns : lines)),
        columns_(static_cast<std::size_t>(turned ? lines : columns)),
        sums_((lines_ + 1) * (columns_ + 1), 0) {
    const std::size_t width = columns_ + 1;
    for (std::size_t i = 1; i <= lines_; ++i) {
      for (std::size_t j = 1; j < width; ++j) {
        const std::size_t cell = turned ? (j - 1) * lines_ + i - 1 : (i - 1) * columns_ + j - 1;
        const std::size_t k = i * width + j;
        sums_[k] = cells[cell] + sums_[k - 1] + sums_[k - width] - sums_[k - width - 1];
      }
    }
  }
  double of(const PairBox& box) const {
    const auto left = static_cast<std::size_t>(box.left);
    const auto right = static_cast<std::size_t>(box.right);
    const double* const top = line(static_cast<std::size_t>(box.top));
    const double* const bottom = line(static_cast<std::size_t>(box.bottom));
    return bottom[right] - top[right] - bottom[left] + top[left];
  }
  // Of the cells above line i, by where they end in it.
  const double* line(std::size_t i) const { return sums_.data() + i * (columns_ + 1); }
  std::size_t lines() const { return lines_; }
  std::size_t columns() const { return columns_; }

 private:
  std::size_t lines_;
  std::size_t columns_;
  std::vector<double> sums_;
};

// Sums over the cells of one half of a pair, from its first column on.
struct Half {
  std::vector<double> gradient;
  std::vector<double> curve;
  std::vector<double> gain;  // scratch

  // The best cut of it in two of at least `least` each; 0 for none. All gains first, without
  // branches and with one division each, so that the processor takes several at a time.
  Cut best_cut(double least) {
    const double all = gradient.back();
    const double whole = curve.back();
    for (std::size_t at = 1; at + 1 < gain.size(); ++at) {
      const double left = gradient[at];
      const double right = all - left;
      const double before = curve[at];
      const double after = whole - before;
      const double enough = before < after ? before : after;
      const double product = enough < least ? 1.0 : before * after;
      const double sum = (left * left * after + right * right * before) / product;
      gain[at] = enough < least ? 0.0 : sum;
    }
    Cut best{gain_of(all, whole), 0};
    for (std::size_t at = 1; at + 1 < gain.size(); ++at) {
      if (gain[at] > best.gain) best = {gain[at], static_cast<int>(at)};
    }
    return best;
  }
};

// The best trees of four boxes that cut lines first, O(lines x columns).
void cut_lines(const Rectangles& gradient, const Rectangles& curve, double least, bool by_first,
               PairCuts& best) {
  const std::size_t ends = gradient.columns() + 1;
  const std::size_t lines = gradient.lines();
  Half low{std::vector<double>(ends), std::vector<double>(ends), std::vector<double>(ends)};
  Half high = low;
  for (std::size_t cut = 1; cut < lines; ++cut) {
    const double* const g = gradient.line(cut);
    const double* const c = curve.line(cut);
    for (std::size_t j = 0; j < ends; ++j) {
      low.gradient[j] = g[j];
      low.curve[j] = c[j];
      high.gradient[j] = gradient.line(lines)[j] - g[j];
      high.curve[j] = curve.line(lines)[j] - c[j];
    }
    if (low.curve.back() < least || high.curve.back() < least) continue;
    const Cut first = low.best_cut(least);
    const Cut second = high.best_cut(least);
    if (first.gain + second.gain > best.gain) {
      best = {first.gain + second.gain, by_first, static_cast<int>(cut), first.at, second.at};
    }
  }
}

}  // namespace

// Uniform over the positions, and over which of the two features is cut first. Extremely randomised
// trees (Geurts, Ernst and Wehenkel, 2006) draw their cuts likewise; a mean over many steps does
// not need the best ones.
PairCuts PairCuts::draw(int first_count, int second_count, Random& random) {
  PairCuts cuts;
  cuts.by_first = random.chance(0.5);
  const int outer = cuts.by_first ? first_count : second_count;
  const int inner = cuts.by_first ? second_count : first_count;
  if (outer < 2) return cuts;
  cuts.cut = static_cast<int>(random.integer(1, outer - 1));
  cuts.low = static_cast<int>(random.integer(0, inner - 1));
  cuts.high = static_cast<int>(random.integer(0, inner - 1));
  return cuts;
}

// Boxes 0 and 1 lie before the first cut, 2 and 3 behind it; of each two the even one lies before
// the second cut. A cut at the edge leaves one of them empty.
PairBox PairCuts::box(int number, int first_count, int second_count) const {
  const int outer = by_first ? first_count : second_count;
  const int inner = by_first ? second_count : first_count;
  const bool far = number >= 2;
  const int edge = far ? high : low;
  const int from = number % 2 == 0 ? 0 : edge;
  const int to = number % 2 == 0 ? edge : inner;
  const int begin = far ? cut : 0;
  const int end = far ? outer : cut;
  return by_first ? PairBox{begin, end, from, to} : PairBox{from, to, begin, end};
}

void PairBox::add(double value, int second_count, std::vector<double>& cells) const {
  for (int i = top; i < bottom; ++i) {
    for (int j = left; j < right; ++j) {
      cells[static_cast<std::size_t>(i) * static_cast<std::size_t>(second_count) +
            static_cast<std::size_t>(j)] += value;
    }
  }
}

// The tree is grown on bins that have rows: an empty bin has no gradient, and would only offer cuts
// that are the same as its neighbour's.
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

// Both features are tried as the one that is cut first, on the table and on the table turned, so
// that one loop does both. O(cells).
void pair_step(const StepSums& sums, const std::vector<double>& rows, int first_count,
               int second_count, const EbmOptions& options, Random* random,
               std::vector<double>& step) {
  const std::vector<double>& weight = options.classify ? sums.weight : rows;
  const Rectangles gradient(sums.gradient, first_count, second_count, false);
  const Rectangles curve(weight, first_count, second_count, false);
  PairCuts cuts;
  if (random != nullptr) {
    cuts = PairCuts::draw(first_count, second_count, *random);
  } else {
    // Leaves hold at least that many rows, or that much curvature.
    const double least = options.classify ? 1e-3 : options.min_leaf;
    cut_lines(gradient, curve, least, true, cuts);
    cut_lines(Rectangles(sums.gradient, first_count, second_count, true),
              Rectangles(weight, first_count, second_count, true), least, false, cuts);
  }
  if (cuts.cut < 0) return;
  for (int number = 0; number < 4; ++number) {
    const PairBox box = cuts.box(number, first_count, second_count);
    const double total = curve.of(box);
    if (total > 0) box.add(options.learning_rate * gradient.of(box) / total, second_count, step);
  }
}

}  // namespace muster
