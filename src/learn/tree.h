// A classification tree a person can read: binary cuts by Gini impurity, pruned by cost and
// complexity (CART; Breiman, Friedman, Olshen and Stone, 1984). Lucid uses one to tell light
// neighbours from heavy ones.
//
// Growing tries every cut of every feature in each node, O(features x rows log rows) per level.
// Weakest-link pruning then folds, from the leaves up, every subtree that gains less than
// `prune` per leaf. Invariant: the rows of a node are those of its two children together.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "learn/features.h"

namespace muster {

struct TreeOptions {
  int max_depth = 8;
  int min_leaf = 1;     // rows in a leaf
  double prune = 1e-4;  // gain in impurity that a cut must bring per leaf it adds
  // Asked before each feature of each node. Once it says no it must not say yes again: training
  // then ends soon, with an error.
  std::function<bool()> keep_going = {};
  bool stopped() const { return keep_going && !keep_going(); }
};

struct DecisionTree {
  struct Node {
    int feature = -1;  // -1: a leaf
    double cut = 0;    // values up to it go left; missing ones where more rows went
    int left = -1;
    int right = -1;
    bool missing_left = true;
    std::vector<double> counts;  // training rows by class
    int best() const;            // the most frequent class
    double rows() const;
  };
  FeatureSet features;
  std::string target;
  std::vector<std::string> classes;
  std::vector<Node> nodes;  // the root is the first

  int predict(std::span<const double> row) const;
  // The nodes a row passes, from the root to its leaf.
  std::vector<int> path(std::span<const double> row) const;
  int leaves() const;
  int depth() const;
  std::vector<double> importances() const;  // by feature, adding up to 1
  std::string text() const;                 // the whole tree, indented, for people
};

// `target` holds positions in `classes`.
Result<DecisionTree> train_tree(const FeatureSet& features,
                                const std::vector<std::vector<double>>& columns,
                                const std::vector<int>& target, std::vector<std::string> classes,
                                const TreeOptions& options);

}  // namespace muster
