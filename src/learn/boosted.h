// Gradient-boosted trees from XGBoost (Chen and Guestrin, "XGBoost: a scalable tree boosting
// system", KDD'16): the estimator that Helios' QSSF uses, and the yardstick for the models that a
// person can read. Where XGBoost is not installed, calls answer with an error that says so.
// Training costs O(rounds x depth x rows x features).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "learn/features.h"

namespace muster {

struct BoostedOptions {
  int rounds = 200;
  int depth = 6;
  double learning_rate = 0.1;
  double row_share = 1;  // of the rows, drawn for each tree
  int min_leaf = 1;
  bool classify = false;  // targets 0 and 1; predictions are probabilities
  std::uint64_t seed = 1;
  int threads = 0;
};

class BoostedTrees {
 public:
  virtual ~BoostedTrees() = default;
  // [feature][row], as FeatureSet::encode gives it.
  virtual Result<std::vector<double>> predict(
      const std::vector<std::vector<double>>& columns) const = 0;
  virtual const FeatureSet& features() const = 0;
  virtual const std::string& target() const = 0;
  // As a model file.
  virtual Result<std::string> text() const = 0;
};

bool has_boosted_trees();

Result<std::unique_ptr<BoostedTrees>> train_boosted_trees(
    const FeatureSet& features, const std::vector<std::vector<double>>& columns,
    const std::vector<double>& target, std::string target_name, const BoostedOptions& options);
Result<std::unique_ptr<BoostedTrees>> boosted_trees_of(std::string_view text,
                                                       std::string_view where);

}  // namespace muster
