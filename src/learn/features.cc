#include "learn/features.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"

namespace muster {

// Ordinal encoding: the position among the sorted categories; O(log categories). One that was not
// seen in training is missing.
double Feature::encode(std::string_view text) const {
  const auto found = std::lower_bound(categories.begin(), categories.end(), text);
  if (found == categories.end() || *found != text) return kMissingNumber;
  return static_cast<double>(found - categories.begin());
}

// The inverse of encode(), except for values that it does not tell apart.
std::string Feature::text_of(double value) const {
  if (std::isnan(value)) return categorical ? "unknown" : "missing";
  if (categorical) return categories[static_cast<std::size_t>(value)];
  return fmt::format("{:.6g}", value);
}

// Text columns become categories, sorted so that the encoding does not depend on the order of rows.
Result<FeatureSet> FeatureSet::of(const Examples& table, const std::vector<std::string>& names,
                                  std::string_view where) {
  std::vector<Feature> features;
  for (const std::string& name : names) {
    const auto column = table.need(name, where);
    if (!column) return column.error();
    Feature feature;
    feature.name = name;
    feature.categorical = (*column)->is_text;
    if (feature.categorical) {
      feature.categories = (*column)->texts;
      std::sort(feature.categories.begin(), feature.categories.end());
      feature.categories.erase(std::unique(feature.categories.begin(), feature.categories.end()),
                               feature.categories.end());
      // An empty cell is a missing value, not a category.
      std::erase(feature.categories, "");
    }
    features.push_back(std::move(feature));
  }
  return FeatureSet(std::move(features));
}

// -1: there is no such feature.
int FeatureSet::position(std::string_view name) const {
  for (std::size_t i = 0; i < features_.size(); ++i) {
    if (features_[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

// Column by column, as training reads it. A number where categories were trained counts as its
// text.
Result<std::vector<std::vector<double>>> FeatureSet::encode(const Examples& table,
                                                            std::string_view where) const {
  std::vector<std::vector<double>> encoded;
  for (const Feature& feature : features_) {
    const auto column = table.need(feature.name, where);
    if (!column) return column.error();
    std::vector<double>& values = encoded.emplace_back();
    if (!feature.categorical) {
      if ((*column)->is_text) {
        return Error{
            fmt::format("{}: column '{}' holds text; the model was trained on numbers there", where,
                        feature.name)};
      }
      values = (*column)->numbers;
      continue;
    }
    values.reserve(table.rows);
    for (std::size_t row = 0; row < table.rows; ++row) {
      values.push_back(feature.encode((*column)->is_text ? (*column)->texts[row]
                                                         : exact_text((*column)->numbers[row])));
    }
  }
  return encoded;
}

// One row as a person writes it, with names in any order. The last one counts where a name comes
// twice.
Result<std::vector<double>> FeatureSet::encode_row(
    const std::vector<std::pair<std::string, std::string>>& values) const {
  // Features that are not named stay missing, for which every model has an answer.
  std::vector<double> row(features_.size(), kMissingNumber);
  for (const auto& [name, text] : values) {
    const int i = position(name);
    if (i < 0) {
      std::vector<std::string_view> known;
      for (const Feature& feature : features_) known.push_back(feature.name);
      return Error{unknown_name("feature", name, known)};
    }
    const Feature& feature = features_[static_cast<std::size_t>(i)];
    if (feature.categorical) {
      row[static_cast<std::size_t>(i)] = feature.encode(text);
      continue;
    }
    const auto number = parse_real(text);
    if (!number) {
      return Error{fmt::format("feature '{}': found '{}', expected a number", name, text)};
    }
    row[static_cast<std::size_t>(i)] = *number;
  }
  return row;
}

// Names end at the first '=', so a value may hold one.
Result<std::vector<double>> FeatureSet::encode_items(const std::vector<std::string>& items) const {
  std::vector<std::pair<std::string, std::string>> values;
  for (const std::string& item : items) {
    const std::size_t equals = item.find('=');
    if (equals == std::string::npos) {
      return Error{fmt::format("'{}': expected FEATURE=VALUE", item)};
    }
    values.emplace_back(item.substr(0, equals), item.substr(equals + 1));
  }
  return encode_row(values);
}

}  // namespace muster
