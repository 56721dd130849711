// The parts of `muster learn` that work on a table of examples, and what they share: a model of any
// kind, and the column that it predicts.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "learn/boosted.h"
#include "learn/ebm.h"
#include "learn/examples.h"
#include "learn/tree.h"

namespace muster {

struct LearnOptions {
  std::string data;
  std::string model;
  std::string output;
  std::string kind = "ebm";
  std::string target;
  std::vector<std::string> features;
  std::vector<std::string> drop;
  std::vector<std::string> as_text;
  std::vector<std::string> monotone;
  std::vector<std::string> row;
  std::size_t at = 0;
  std::string page;
  std::string feature;
  std::string id;
  bool json = false;
  EbmOptions ebm;
  double prune = 1e-4;
};

int learn_train(const LearnOptions& options);
int learn_predict(const LearnOptions& options);
int learn_evaluate(const LearnOptions& options);
int learn_explain(const LearnOptions& options);

struct LoadedModel {
  std::string kind;
  Ebm ebm;
  DecisionTree tree;
  std::unique_ptr<BoostedTrees> boosted;

  const FeatureSet& features() const {
    return kind == "ebm" ? ebm.features : kind == "tree" ? tree.features : boosted->features();
  }
  const std::string& target() const {
    return kind == "ebm" ? ebm.target : kind == "tree" ? tree.target : boosted->target();
  }
};

Result<LoadedModel> load_model(const std::string& path);

// The features that are categories, whatever they look like in a file.
std::vector<std::string> categories_of(const FeatureSet& features);

// Predictions as numbers: values, probabilities of the second class, or positions of classes.
Result<std::vector<double>> predict_all(const LoadedModel& model,
                                        const std::vector<std::vector<double>>& columns);

struct TargetColumn {
  std::vector<double> values;
  std::vector<std::string> classes;  // of text, sorted; values are then positions
};

// The column `name`; `where` names the file in messages. Where `classes` are given, no other text
// is legal.
Result<TargetColumn> target_of(const Examples& examples, const std::string& name,
                               const std::string& where, std::vector<std::string> classes);

}  // namespace muster
