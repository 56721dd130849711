// Tables for people, and the same rows as CSV and JSON for programs.
//
// Text has units (durations like "1 d 3 h"), aligned columns and the best value of a column marked
// with a star, in colour where the style allows it. Where a width is given, a long last column of
// words is wrapped, and columns that do not fit go below, with the first column again. CSV and JSON
// carry exact numbers under the column's key.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "report/metrics.h"
#include "report/run_info.h"
#include "report/units.h"

namespace muster {

struct Column {
  std::string key;    // in CSV and JSON
  std::string label;  // in text
  Unit unit = Unit::kCount;
  Better better = Better::kNeither;
};

// Nothing, a text, or a number in its column's unit.
using Cell = std::variant<std::monostate, std::string, double>;

struct TextStyle {
  bool colour = false;
  bool mark_best = true;
  std::size_t width = 0;  // columns that the text may take; 0: any number
};

// Colour and width of what the descriptor leads to; any width where that is no terminal.
TextStyle text_style(int descriptor, bool mark_best = true);

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // Cells beyond the columns are an error of ours; missing ones are empty.
  void add_row(std::vector<Cell> cells);
  // A line below the table, in its text only.
  void add_note(std::string note) { notes_.push_back(std::move(note)); }
  std::size_t rows() const { return rows_.size(); }

  std::string text(const TextStyle& style) const;
  std::string csv() const;
  std::string json() const;

 private:
  // Whether each cell of the column is its best; none when all are equal or only one has a number.
  std::vector<bool> best_in(std::size_t column) const;
  bool numeric(std::size_t column) const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
  std::vector<std::string> notes_;
};

// A run of a comparison: one row.
struct TableRun {
  std::string label;
  const RunSummary* summary = nullptr;
  const RunInfo* info = nullptr;  // to tell whether runs can be compared; null: they can
};

// One row per run with the figures named by `keys`; an empty list means those marked as headlines,
// and those of refused, failed and preempted jobs and deadlines where any run has some.
Table comparison_table(const std::vector<TableRun>& runs,
                       const std::vector<std::string>& keys = {});

// One row per figure of a single run.
Table figures_table(const RunSummary& summary);

}  // namespace muster
