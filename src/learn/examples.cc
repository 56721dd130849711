#include "learn/examples.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/text.h"
#include "workload/byte_input.h"

namespace muster {
namespace {

// A number, NaN for an empty cell; nothing if it is text.
std::optional<double> number_of(const std::string& cell) {
  if (cell.empty() || cell == "nan" || cell == "NaN" || cell == "NA") return kMissingNumber;
  return parse_real(cell);
}

}  // namespace

// A linear search: tables have a few dozen columns.
const ExampleColumn* Examples::find(std::string_view name) const {
  for (const ExampleColumn& column : columns) {
    if (column.name == name) return &column;
  }
  return nullptr;
}

// All columns have as many rows; the one that is added last says how many.
ExampleColumn& Examples::add_numbers(std::string name, std::vector<double> values) {
  rows = values.size();
  ExampleColumn& column = columns.emplace_back();
  column.name = std::move(name);
  column.numbers = std::move(values);
  return column;
}

ExampleColumn& Examples::add_texts(std::string name, std::vector<std::string> values) {
  rows = values.size();
  ExampleColumn& column = columns.emplace_back();
  column.name = std::move(name);
  column.is_text = true;
  column.texts = std::move(values);
  return column;
}

// The same for names that a person has written: a miss says which columns there are.
Result<const ExampleColumn*> Examples::need(std::string_view name, std::string_view where) const {
  if (const ExampleColumn* column = find(name)) return column;
  std::vector<std::string_view> known;
  for (const ExampleColumn& column : columns) known.push_back(column.name);
  return Error{fmt::format("{}: {}", where, unknown_name("column", name, known))};
}

// A column is numeric if all its cells are numbers or missing; else it is text. Two passes: cells
// are kept as text until the whole column is known. O(cells) time and memory.
Result<Examples> parse_examples(std::string_view text, std::string_view where,
                                const std::vector<std::string>& as_text) {
  std::vector<std::vector<std::string>> columns;
  std::vector<std::string> header;
  std::vector<std::string> cells;
  std::size_t line_number = 1;
  std::size_t next_line = 1;
  for (std::string_view before = text; next_csv_record(text, cells); before = text) {
    // A quoted cell may span lines, so the line number advances by the line breaks in the record.
    const std::string_view record = before.substr(0, before.size() - text.size());
    line_number = next_line;
    next_line += static_cast<std::size_t>(std::count(record.begin(), record.end(), '\n'));
    if (cells.size() == 1 && cells.front().empty()) continue;
    if (header.empty()) {
      header = cells;
      columns.resize(header.size());
      continue;
    }
    if (cells.size() != header.size()) {
      return Error{
          fmt::format("{}:{}: {} cells where the header has {}; quote cells that hold commas",
                      where, line_number, cells.size(), header.size())};
    }
    for (std::size_t i = 0; i < cells.size(); ++i) columns[i].push_back(std::move(cells[i]));
  }
  if (header.empty()) return Error{fmt::format("{}: empty; a header was expected", where)};
  Examples table;
  for (std::size_t i = 0; i < header.size(); ++i) {
    // Ids look like numbers, so the caller may say that a column is text.
    const bool forced = std::find(as_text.begin(), as_text.end(), header[i]) != as_text.end();
    std::vector<double> numbers;
    bool is_text = forced;
    for (const std::string& cell : columns[i]) {
      if (is_text) break;
      const auto number = number_of(cell);
      is_text = !number.has_value();
      numbers.push_back(number.value_or(kMissingNumber));
    }
    if (is_text) {
      table.add_texts(header[i], std::move(columns[i]));
    } else {
      table.add_numbers(header[i], std::move(numbers));
    }
  }
  return table;
}

// A file of more than 1 GiB is refused: tables are held in memory as a whole, first as text.
Result<Examples> read_examples(const std::string& path, const std::vector<std::string>& as_text) {
  const auto text = read_whole(path, std::size_t{1} << 30);
  if (!text) return text.error();
  return parse_examples(*text, path, as_text);
}

// In the order of `rows`, column by column. O(rows x columns).
Examples take_rows(const Examples& table, const std::vector<std::size_t>& rows) {
  Examples taken;
  taken.rows = rows.size();
  for (const ExampleColumn& column : table.columns) {
    ExampleColumn& copy = taken.columns.emplace_back();
    copy.name = column.name;
    copy.is_text = column.is_text;
    for (const std::size_t row : rows) {
      if (column.is_text) {
        copy.texts.push_back(column.texts[row]);
      } else {
        copy.numbers.push_back(column.numbers[row]);
      }
    }
  }
  return taken;
}

}  // namespace muster
