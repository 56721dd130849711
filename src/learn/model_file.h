// Trained models as files: JSON with the members `muster_model` (kind) and `version`, described in
// docs/learn.md. Reading checks everything, so that a damaged file is an error and not a wrong
// prediction.
#pragma once

#include <string>

#include "learn/ebm.h"
#include "learn/tree.h"

namespace muster {

std::string to_text(const Ebm& model);
std::string to_text(const DecisionTree& model);
// `where` names the text in messages.
Result<Ebm> ebm_of(std::string_view text, std::string_view where);
Result<DecisionTree> tree_of(std::string_view text, std::string_view where);
// "ebm", "tree", "boosted-trees"; an error if it is no model.
Result<std::string> model_kind(std::string_view text, std::string_view where);

// The explainable boosting machine in a file; another kind of model is an error.
Result<Ebm> load_ebm(const std::string& path);

}  // namespace muster
