#include "workload/perf/small_table.h"

#include <algorithm>
#include <cmath>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"

namespace muster {

Result<SmallTable> SmallTable::read(const std::string& path) {
  SmallTable table;
  table.path_ = path;
  std::ifstream file(path);
  if (!file) return Error{fmt::format("{}: cannot be read; check the path", path)};
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    std::vector<std::string> cells;
    for (const std::string_view cell : split(trim(line), ',')) cells.emplace_back(trim(cell));
    if (number == 1) {
      table.header_ = std::move(cells);
      continue;
    }
    if (trim(line).empty()) continue;
    if (cells.size() != table.header_.size()) {
      return Error{fmt::format("{}:{}: {} cells where the header has {}", path, number,
                               cells.size(), table.header_.size())};
    }
    table.rows_.push_back(std::move(cells));
    table.lines_.push_back(number);
  }
  if (table.header_.empty()) return Error{fmt::format("{}: empty; a header was expected", path)};
  return table;
}

Status SmallTable::require(const std::vector<std::string>& columns) const {
  for (const std::string& column : columns) {
    if (has(column)) continue;
    return Error{
        fmt::format("{}: no column '{}'; found: {}", path_, column, fmt::join(header_, ", "))};
  }
  return Done{};
}

Result<double> SmallTable::number(std::size_t row, std::string_view column, double least) const {
  const auto value = parse_real(text(row, column));
  if (!value || !std::isfinite(*value) || *value < least) {
    return Error{fmt::format("{}:{}: column '{}': found '{}', expected a number of at least {}",
                             path_, lines_[row], column, text(row, column), least)};
  }
  return *value;
}

std::optional<std::size_t> SmallTable::column_of(std::string_view name) const {
  const auto found = std::find(header_.begin(), header_.end(), name);
  if (found == header_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - header_.begin());
}

}  // namespace muster
