#include "learn/tree.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include <fmt/format.h>

namespace muster {
namespace {

// Gini impurity: the chance that two rows drawn with replacement differ in class; 0 where all are
// of one class.
double gini(const std::vector<double>& counts, double rows) {
  if (rows <= 0) return 0;
  double sum = 0;
  for (const double count : counts) sum += count / rows * (count / rows);
  return 1 - sum;
}

// Grows the tree depth first, greedily: each node takes the cut that leaves the least impurity in
// its two parts together, and no cut is ever taken back here (prune() does that).
class Grower {
 public:
  Grower(DecisionTree& tree, const std::vector<std::vector<double>>& columns,
         const std::vector<int>& target, const TreeOptions& options)
      : tree_(tree), columns_(columns), target_(target), options_(options) {}

  int grow(const std::vector<std::size_t>& rows, int depth) {
    const int self = static_cast<int>(tree_.nodes.size());
    DecisionTree::Node node;
    node.counts.assign(tree_.classes.size(), 0);
    for (const std::size_t row : rows) node.counts[static_cast<std::size_t>(target_[row])] += 1;
    tree_.nodes.push_back(node);
    // Stopping rules: the greatest depth, and below no cut that lessens the impurity.
    if (depth >= options_.max_depth || options_.stopped()) return self;
    const Split split = best_split(rows, node.counts);
    if (split.feature < 0) return self;
    std::vector<std::size_t> left;
    std::vector<std::size_t> right;
    const std::vector<double>& values = columns_[static_cast<std::size_t>(split.feature)];
    for (const std::size_t row : rows) {
      const bool goes_left =
          std::isnan(values[row]) ? split.missing_left : values[row] <= split.cut;
      (goes_left ? left : right).push_back(row);
    }
    const int left_child = grow(left, depth + 1);
    const int right_child = grow(right, depth + 1);
    DecisionTree::Node& mine = tree_.nodes[static_cast<std::size_t>(self)];
    mine.feature = split.feature;
    mine.cut = split.cut;
    mine.missing_left = split.missing_left;
    mine.left = left_child;
    mine.right = right_child;
    return self;
  }

 private:
  struct Split {
    int feature = -1;
    double cut = 0;
    bool missing_left = true;
    double impurity = 0;
  };

  // Every cut between two neighbouring values of every feature. Rows are sorted by the feature
  // once, and the class counts to the left grow row by row, so that a cut costs O(classes). Missing
  // values go with the larger part.
  Split best_split(const std::vector<std::size_t>& rows, const std::vector<double>& counts) {
    Split best;
    const auto total = static_cast<double>(rows.size());
    // A cut must lessen the impurity of the node by more than rounding could.
    best.impurity = gini(counts, total) * total - 1e-9;
    if (best.impurity <= 0) return best;
    for (std::size_t f = 0; f < columns_.size() && !options_.stopped(); ++f) {
      std::vector<std::size_t> order;
      std::vector<double> missing(counts.size(), 0);
      for (const std::size_t row : rows) {
        if (std::isnan(columns_[f][row])) {
          missing[static_cast<std::size_t>(target_[row])] += 1;
        } else {
          order.push_back(row);
        }
      }
      std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return columns_[f][a] < columns_[f][b];
      });
      // Class counts to the left of the cut; those to the right follow by subtraction from the
      // node's.
      std::vector<double> left(counts.size(), 0);
      for (std::size_t i = 0; i + 1 < order.size(); ++i) {
        left[static_cast<std::size_t>(target_[order[i]])] += 1;
        const double here = columns_[f][order[i]];
        const double next = columns_[f][order[i + 1]];
        // Equal values cannot be separated by a threshold.
        if (here == next) continue;
        const bool missing_left = 2 * (i + 1) >= order.size();
        std::vector<double> low = left;
        std::vector<double> high = counts;
        for (std::size_t c = 0; c < counts.size(); ++c) {
          if (missing_left) low[c] += missing[c];
          high[c] -= low[c];
        }
        const double low_rows = std::accumulate(low.begin(), low.end(), 0.0);
        const double high_rows = total - low_rows;
        // Small leaves fit noise; min_leaf is the pre-pruning of CART.
        if (low_rows < options_.min_leaf || high_rows < options_.min_leaf) continue;
        const double impurity = gini(low, low_rows) * low_rows + gini(high, high_rows) * high_rows;
        if (impurity < best.impurity) {
          // The cut lies half way between the two values. Of equally good cuts the first one stays,
          // so the tree does not depend on the order of the rows.
          best = {static_cast<int>(f), here + (next - here) / 2, missing_left, impurity};
        }
      }
    }
    return best;
  }

  DecisionTree& tree_;
  const std::vector<std::vector<double>>& columns_;
  const std::vector<int>& target_;
  const TreeOptions& options_;
};

// Cost-complexity pruning (CART, chapter 3): undoes the weakest link, the subtree with the least
// gain per added leaf, until all gain more than `alpha`. O(nodes) for each subtree that goes.
void prune(DecisionTree& tree, double alpha) {
  const double total = tree.nodes[0].rows();
  struct Cost {
    double impurity = 0;
    int leaves = 0;
  };
  while (true) {
    double weakest = alpha;
    int where = -1;
    const std::function<Cost(int)> visit = [&](int i) -> Cost {
      const DecisionTree::Node& node = tree.nodes[static_cast<std::size_t>(i)];
      // R(t), the resubstitution cost of the node as a leaf; below R(T), that of its subtree. The
      // strength of the link is g(t) = (R(t) - R(T)) / (leaves - 1).
      const double own = gini(node.counts, node.rows()) * node.rows() / total;
      if (node.feature < 0) return {own, 1};
      const Cost left = visit(node.left);
      const Cost right = visit(node.right);
      const Cost both{left.impurity + right.impurity, left.leaves + right.leaves};
      const double strength = (own - both.impurity) / (both.leaves - 1);
      if (strength <= weakest) {
        weakest = strength;
        where = i;
      }
      return both;
    };
    visit(0);
    if (where < 0) break;
    tree.nodes[static_cast<std::size_t>(where)].feature = -1;
  }
  // Drop nodes that are no longer reachable.
  std::vector<DecisionTree::Node> kept;
  const std::function<int(int)> copy = [&](int i) -> int {
    const int self = static_cast<int>(kept.size());
    kept.push_back(tree.nodes[static_cast<std::size_t>(i)]);
    if (kept.back().feature < 0) {
      kept.back().left = kept.back().right = -1;
      return self;
    }
    const int left = copy(tree.nodes[static_cast<std::size_t>(i)].left);
    const int right = copy(tree.nodes[static_cast<std::size_t>(i)].right);
    kept[static_cast<std::size_t>(self)].left = left;
    kept[static_cast<std::size_t>(self)].right = right;
    return self;
  };
  copy(0);
  tree.nodes = std::move(kept);
}

}  // namespace

int DecisionTree::Node::best() const {
  // The majority class; of equally frequent ones the first.
  return static_cast<int>(std::max_element(counts.begin(), counts.end()) - counts.begin());
}

double DecisionTree::Node::rows() const {
  return std::accumulate(counts.begin(), counts.end(), 0.0);
}

// O(depth).
std::vector<int> DecisionTree::path(std::span<const double> row) const {
  std::vector<int> passed = {0};
  while (nodes[static_cast<std::size_t>(passed.back())].feature >= 0) {
    const Node& node = nodes[static_cast<std::size_t>(passed.back())];
    const double value = row[static_cast<std::size_t>(node.feature)];
    // A missing value follows the larger part of the training rows, a simple stand-in for CART's
    // surrogate splits.
    const bool left = std::isnan(value) ? node.missing_left : value <= node.cut;
    passed.push_back(left ? node.left : node.right);
  }
  return passed;
}

int DecisionTree::predict(std::span<const double> row) const {
  return nodes[static_cast<std::size_t>(path(row).back())].best();
}

int DecisionTree::leaves() const {
  return static_cast<int>(
      std::count_if(nodes.begin(), nodes.end(), [](const Node& n) { return n.feature < 0; }));
}

int DecisionTree::depth() const {
  const std::function<int(int)> below = [&](int i) -> int {
    const Node& node = nodes[static_cast<std::size_t>(i)];
    return node.feature < 0 ? 0 : 1 + std::max(below(node.left), below(node.right));
  };
  return below(0);
}

// Mean decrease in impurity: what the cuts of a feature take off the Gini impurity, by rows.
std::vector<double> DecisionTree::importances() const {
  std::vector<double> gain(features.size(), 0);
  double sum = 0;
  for (const Node& node : nodes) {
    if (node.feature < 0) continue;
    const Node& left = nodes[static_cast<std::size_t>(node.left)];
    const Node& right = nodes[static_cast<std::size_t>(node.right)];
    const double less = gini(node.counts, node.rows()) * node.rows() -
                        gini(left.counts, left.rows()) * left.rows() -
                        gini(right.counts, right.rows()) * right.rows();
    gain[static_cast<std::size_t>(node.feature)] += less;
    sum += less;
  }
  for (double& value : gain) value = sum > 0 ? value / sum : 0;
  return gain;
}

std::string DecisionTree::text() const {
  std::string out;
  const std::function<void(int, int)> write = [&](int i, int indent) {
    const Node& node = nodes[static_cast<std::size_t>(i)];
    const std::string margin(static_cast<std::size_t>(indent) * 2, ' ');
    if (node.feature < 0) {
      out += fmt::format("{}{} ({} of {} rows)\n", margin,
                         classes[static_cast<std::size_t>(node.best())],
                         node.counts[static_cast<std::size_t>(node.best())], node.rows());
      return;
    }
    const std::string& name = features[static_cast<std::size_t>(node.feature)].name;
    out += fmt::format("{}{} <= {:.6g}\n", margin, name, node.cut);
    write(node.left, indent + 1);
    out += fmt::format("{}{} > {:.6g}\n", margin, name, node.cut);
    write(node.right, indent + 1);
  };
  write(0, 0);
  return out;
}

Result<DecisionTree> train_tree(const FeatureSet& features,
                                const std::vector<std::vector<double>>& columns,
                                const std::vector<int>& target, std::vector<std::string> classes,
                                const TreeOptions& options) {
  if (target.empty()) return Error{"no training rows"};
  DecisionTree tree;
  tree.features = features;
  tree.classes = std::move(classes);
  std::vector<std::size_t> rows(target.size());
  std::iota(rows.begin(), rows.end(), 0U);
  // Grow a large tree, then prune it: stopping early could miss a cut that only pays off further
  // down.
  Grower(tree, columns, target, options).grow(rows, 0);
  if (options.stopped()) return Error{"training was stopped"};
  prune(tree, options.prune);
  return tree;
}

}  // namespace muster
