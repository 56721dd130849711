// How a row of any plug-in table is found and made; any vector of rows with name, params and make.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/params.h"
#include "base/text.h"

namespace muster {

template <typename Row>
Result<const Row*> find_row(std::string_view kind, const std::vector<Row>& table,
                            std::string_view name) {
  std::vector<std::string_view> names;
  for (const Row& row : table) {
    if (row.name == name) return &row;
    names.push_back(row.name);
  }
  for (const Row& row : table) {
    if (same_name(row.name, name)) return &row;
  }
  return Error{unknown_name(kind, name, names)};
}

template <typename Row>
auto make_from(std::string_view kind, const std::vector<Row>& table, std::string_view name,
               const ParamTexts& given)
    -> Result<decltype(table.front().make(std::declval<Params>()))> {
  const auto row = find_row(kind, table, name);
  if (!row) return row.error();
  const auto params =
      Params::make(std::string(kind) + " '" + std::string(name) + "'", (*row)->params, given);
  if (!params) return params.error();
  return (*row)->make(*params);
}

}  // namespace muster
