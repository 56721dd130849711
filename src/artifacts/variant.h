// A general policy with a habit that only a published simulator has.
#pragma once

#include <algorithm>
#include <cassert>
#include <string_view>
#include <vector>

#include "policy/table.h"

namespace muster {

// The row of that name in the general table, under another name and made in another way. Its
// parameters are those of the general row.
template <typename Policy>
PolicyInfo<Policy> variant_of(const std::vector<PolicyInfo<Policy>>& table,
                              std::string_view general, std::string_view name,
                              std::string_view sentence,
                              std::unique_ptr<Policy> (*make)(const Params&)) {
  const auto row = std::find_if(table.begin(), table.end(),
                                [general](const auto& r) { return r.name == general; });
  assert(row != table.end() && "an artifact varies a policy that exists");
  PolicyInfo<Policy> variant = *row;
  variant.name = name;
  variant.sentence = sentence;
  variant.make = make;
  return variant;
}

}  // namespace muster
