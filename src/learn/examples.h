// Examples to learn from: named columns of numbers or of text, as models are trained on. Missing
// values are NaN in numbers and empty in text.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster {

inline constexpr double kMissingNumber = std::numeric_limits<double>::quiet_NaN();

struct ExampleColumn {
  std::string name;
  bool is_text = false;
  std::vector<double> numbers;     // of a column of numbers
  std::vector<std::string> texts;  // of a column of text
};

struct Examples {
  std::vector<ExampleColumn> columns;
  std::size_t rows = 0;

  // Null when there is none of that name.
  const ExampleColumn* find(std::string_view name) const;
  ExampleColumn& add_numbers(std::string name, std::vector<double> values);
  ExampleColumn& add_texts(std::string name, std::vector<std::string> values);
  // The error names the columns there are.
  Result<const ExampleColumn*> need(std::string_view name, std::string_view where) const;
};

// Reads a CSV file (packed or plain) with a header. A column is of numbers when every cell is one,
// or empty, or "nan"; those in `as_text` are text whatever they look like.
Result<Examples> read_examples(const std::string& path,
                               const std::vector<std::string>& as_text = {});
// The same from text in memory; `where` names it in messages.
Result<Examples> parse_examples(std::string_view text, std::string_view where,
                                const std::vector<std::string>& as_text = {});

// Rows of a table, in the order given.
Examples take_rows(const Examples& table, const std::vector<std::size_t>& rows);

}  // namespace muster
