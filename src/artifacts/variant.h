// A general policy with one habit that only a published simulator has.
#pragma once

#include <algorithm>
#include <cassert>
#include <string_view>
#include <vector>

#include "policy/table.h"

namespace muster {

// The row of that name in the general table, under another name and with the flag `quirk` in
// addition, which the policy looks for (policy/shared_params.h).
template <typename Policy>
PolicyInfo<Policy> variant_of(const std::vector<PolicyInfo<Policy>>& table,
                              std::string_view general, std::string_view name,
                              std::string_view sentence, const ParamInfo& quirk) {
  const auto row = std::find_if(table.begin(), table.end(),
                                [general](const auto& r) { return r.name == general; });
  assert(row != table.end() && "an artifact varies a policy that exists");
  PolicyInfo<Policy> variant = *row;
  variant.name = name;
  variant.sentence = sentence;
  variant.params.push_back(quirk);
  return variant;
}

}  // namespace muster
