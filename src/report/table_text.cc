// Tables as text: aligned columns, and what is done where the terminal is narrower than they are.
#include <algorithm>
#include <utility>

#include "base/text.h"
#include "report/table.h"
#include "report/terminal.h"

namespace muster {
namespace {

constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kGreen = "\x1b[1;32m";
constexpr std::string_view kDim = "\x1b[2m";
constexpr std::string_view kPlain = "\x1b[0m";

std::string cell_text(const Cell& cell, const Column& column) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* number = std::get_if<double>(&cell)) return number_text(*number, column.unit);
  return "";
}

std::string coloured(std::string_view text, std::string_view code, bool colour) {
  if (!colour || text.empty()) return std::string(text);
  return std::string(code) + std::string(text) + std::string(kPlain);
}

std::string trimmed_end(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

// One column, ready to be put beside others.
struct TextColumn {
  std::string label;
  std::vector<std::vector<std::string>> cells;  // by row, then by line
  std::vector<bool> best;
  std::size_t width = 0;
  bool right = false;    // numbers
  bool starred = false;  // room for a star behind it

  std::size_t taken() const { return width + (starred ? 1 : 0); }
};

// Breaks a text at blanks into lines of at most `most` columns; a longer word has a line of its
// own.
std::vector<std::string> wrapped(const std::string& text, std::size_t most) {
  std::vector<std::string> lines;
  std::string line;
  for (const std::string_view word : split(text, ' ')) {
    const bool fits = line.empty() || display_width(line) + 1 + display_width(word) <= most;
    if (!fits) lines.push_back(std::exchange(line, {}));
    if (!line.empty()) line += ' ';
    line += word;
  }
  lines.push_back(std::move(line));
  return lines;
}

constexpr std::size_t kGap = 2;

std::size_t width_of(const std::vector<TextColumn>& columns) {
  std::size_t width = 0;
  for (const TextColumn& column : columns) width += column.taken() + (width > 0 ? kGap : 0);
  return width;
}

void put(std::string& line, const TextColumn& column, const std::string& text, bool star,
         std::string_view code, bool colour) {
  const std::string blank(column.width - display_width(text), ' ');
  if (column.right) line += blank;
  line += coloured(text, code, colour);
  if (!column.right) line += blank;
  if (column.starred) line += star ? coloured("*", code, colour) : " ";
}

// These columns side by side.
std::string block_text(const std::vector<const TextColumn*>& columns, bool colour) {
  const std::size_t rows = columns.front()->cells.size();
  std::string out;
  const auto add_line = [&](auto&& text_of) {
    std::string line;
    for (const TextColumn* column : columns) {
      if (column != columns.front()) line.append(kGap, ' ');
      text_of(line, *column);
    }
    out += trimmed_end(std::move(line)) + "\n";
  };
  add_line([&](std::string& line, const TextColumn& column) {
    put(line, column, column.label, false, kBold, colour);
  });
  add_line([&](std::string& line, const TextColumn& column) {
    std::string rule;
    for (std::size_t i = 0; i < column.width; ++i) rule.append("─");
    put(line, column, rule, false, kDim, colour);
  });
  for (std::size_t row = 0; row < rows; ++row) {
    std::size_t high = 1;
    for (const TextColumn* column : columns) high = std::max(high, column->cells[row].size());
    for (std::size_t i = 0; i < high; ++i) {
      add_line([&](std::string& line, const TextColumn& column) {
        const std::vector<std::string>& lines = column.cells[row];
        const bool best = column.best[row];
        put(line, column, i < lines.size() ? lines[i] : "", best && i == 0, best ? kGreen : "",
            colour);
      });
    }
  }
  return out;
}

// A long last column of words gives way first.
void wrap_last(std::vector<TextColumn>& columns, std::size_t width) {
  constexpr std::size_t kLeast = 24;
  TextColumn& last = columns.back();
  std::size_t others = width_of(columns) - last.width;
  // Where there is too little room beside the others, it goes below them, with the first again.
  if (others + kLeast > width) others = columns.front().taken() + kGap;
  if (columns.size() < 2 || last.right || others + kLeast > width) return;
  last.width = std::max(width - others, display_width(last.label));
  for (std::vector<std::string>& cell : last.cells) cell = wrapped(cell.front(), last.width);
  // A word may be longer than the room that is left.
  for (const std::vector<std::string>& cell : last.cells) {
    for (const std::string& line : cell) last.width = std::max(last.width, display_width(line));
  }
}

// As many columns beside each other as fit, the first one in every block.
std::string blocks_text(const std::vector<TextColumn>& columns, std::size_t width, bool colour) {
  std::string out;
  std::vector<const TextColumn*> block = {&columns.front()};
  std::size_t taken = columns.front().taken();
  for (std::size_t c = 1; c < columns.size(); ++c) {
    const std::size_t more = kGap + columns[c].taken();
    if (width > 0 && taken + more > width && block.size() > 1) {
      out += block_text(block, colour) + "\n";
      block = {&columns.front()};
      taken = columns.front().taken();
    }
    block.push_back(&columns[c]);
    taken += more;
  }
  return out + block_text(block, colour);
}

}  // namespace

TextStyle text_style(int descriptor, bool mark_best) {
  return {wants_colour(descriptor), mark_best,
          is_terminal(descriptor) ? static_cast<std::size_t>(terminal_width(descriptor)) : 0};
}

std::string Table::text(const TextStyle& style) const {
  std::vector<TextColumn> columns;
  bool any_best = false;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    TextColumn& column = columns.emplace_back();
    column.label = columns_[c].label;
    column.right = numeric(c);
    column.best = style.mark_best ? best_in(c) : std::vector<bool>(rows_.size(), false);
    column.starred = std::find(column.best.begin(), column.best.end(), true) != column.best.end();
    any_best = any_best || column.starred;
    column.width = display_width(column.label);
    for (const auto& row : rows_) {
      column.cells.push_back({cell_text(row[c], columns_[c])});
      column.width = std::max(column.width, display_width(column.cells.back().front()));
    }
  }
  if (style.width > 0 && width_of(columns) > style.width) wrap_last(columns, style.width);
  std::string out = blocks_text(columns, style.width, style.colour);
  if (any_best) out += coloured("* best of its column", kDim, style.colour) + "\n";
  for (const std::string& note : notes_) out += note + "\n";
  return out;
}

}  // namespace muster
