#include "cli/learn_parts.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "learn/model_file.h"
#include "workload/byte_input.h"

namespace muster {

Result<LoadedModel> load_model(const std::string& path) {
  const auto text = read_whole(path, std::size_t{1} << 30);
  if (!text) return text.error();
  auto kind = model_kind(*text, path);
  if (!kind) return kind.error();
  LoadedModel loaded;
  loaded.kind = *kind;
  if (*kind == "ebm") {
    auto model = ebm_of(*text, path);
    if (!model) return model.error();
    loaded.ebm = std::move(*model);
  } else if (*kind == "tree") {
    auto model = tree_of(*text, path);
    if (!model) return model.error();
    loaded.tree = std::move(*model);
  } else {
    auto model = boosted_trees_of(*text, path);
    if (!model) return model.error();
    loaded.boosted = std::move(*model);
  }
  return loaded;
}

std::vector<std::string> categories_of(const FeatureSet& features) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < features.size(); ++i) {
    if (features[i].categorical) names.push_back(features[i].name);
  }
  return names;
}

Result<std::vector<double>> predict_all(const LoadedModel& model,
                                        const std::vector<std::vector<double>>& columns) {
  if (model.kind == "boosted-trees") return model.boosted->predict(columns);
  const std::size_t rows = columns.empty() ? 0 : columns.front().size();
  std::vector<double> predictions;
  std::vector<double> row(columns.size());
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t f = 0; f < row.size(); ++f) row[f] = columns[f][i];
    predictions.push_back(model.kind == "ebm" ? model.ebm.predict(row) : model.tree.predict(row));
  }
  return predictions;
}

Result<TargetColumn> target_of(const Examples& examples, const std::string& name,
                               const std::string& where, std::vector<std::string> classes) {
  const auto column = examples.need(name, where);
  if (!column) return column.error();
  TargetColumn target;
  if (!(*column)->is_text && classes.empty()) {
    target.values = (*column)->numbers;
    return target;
  }
  std::vector<std::string> texts = (*column)->texts;
  for (const double value : (*column)->numbers) texts.push_back(exact_text(value));
  if (classes.empty()) {
    classes = texts;
    std::sort(classes.begin(), classes.end());
    classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  }
  target.classes = std::move(classes);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto found = std::lower_bound(target.classes.begin(), target.classes.end(), texts[i]);
    if (found == target.classes.end() || *found != texts[i]) {
      return Error{fmt::format("{}: row {}: class '{}' of '{}' is not one the model knows", where,
                               i + 1, texts[i], name)};
    }
    target.values.push_back(static_cast<double>(found - target.classes.begin()));
  }
  return target;
}

}  // namespace muster
