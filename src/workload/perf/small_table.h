// A small CSV table with a header, read whole; cells are found by the name of their column.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster {

class SmallTable {
 public:
  static Result<SmallTable> read(const std::string& path);

  std::size_t rows() const { return rows_.size(); }
  bool has(std::string_view column) const { return column_of(column).has_value(); }
  // The error names the first column that is missing, and those that are there.
  Status require(const std::vector<std::string>& columns) const;
  // The column must be there.
  const std::string& text(std::size_t row, std::string_view column) const {
    return rows_[row][*column_of(column)];
  }
  Result<double> number(std::size_t row, std::string_view column, double least) const;

 private:
  std::optional<std::size_t> column_of(std::string_view name) const;

  std::string path_;
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<int> lines_;  // of the rows, in the file
};

}  // namespace muster
