// What a model looks at: an ordered list of features, numbers or categories, learnt from a table
// and applied to others. A row is a vector of doubles: a number, the position of a category, or NaN
// where the value is missing or a category was never seen in training.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "learn/examples.h"

namespace muster {

struct Feature {
  std::string name;
  bool categorical = false;
  std::vector<std::string> categories;  // sorted

  double encode(std::string_view text) const;  // NaN: unseen or missing
  std::string text_of(double value) const;     // for people
};

class FeatureSet {
 public:
  FeatureSet() = default;
  explicit FeatureSet(std::vector<Feature> features) : features_(std::move(features)) {}

  // Features of these names, text columns becoming categories. Missing columns are an error.
  static Result<FeatureSet> of(const Examples& table, const std::vector<std::string>& names,
                               std::string_view where);

  std::size_t size() const { return features_.size(); }
  const Feature& operator[](std::size_t i) const { return features_[i]; }
  // -1 when there is none.
  int position(std::string_view name) const;

  // Column by column: [feature][row]. A column of the wrong kind or an absent one is an error.
  Result<std::vector<std::vector<double>>> encode(const Examples& table,
                                                  std::string_view where) const;
  // One row from "name=value" pairs; what is not given is missing.
  Result<std::vector<double>> encode_row(
      const std::vector<std::pair<std::string, std::string>>& values) const;
  // The same from texts "FEATURE=VALUE".
  Result<std::vector<double>> encode_items(const std::vector<std::string>& items) const;

 private:
  std::vector<Feature> features_;
};

}  // namespace muster
