#include "workload/trace_parser.h"

#include <fmt/format.h>

namespace muster {
namespace {

// A damaged file may put a megabyte, or terminal control codes, where a number should be.
std::string printable(std::string_view text) {
  constexpr std::size_t kMost = 60;
  std::string shown;
  for (const char c : text.substr(0, kMost)) {
    shown += static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? '?' : c;
  }
  if (text.size() > kMost) shown += "...";
  return shown;
}

}  // namespace

std::string problem_text(const Problem& problem) {
  std::string text;
  if (problem.column > 0) text += fmt::format("column {}", problem.column);
  if (!problem.field.empty()) {
    text += problem.column > 0 ? fmt::format(" ({})", problem.field) : problem.field;
  }
  if (!text.empty()) text += ": ";
  if (problem.missing) return text + fmt::format("found nothing, expected {}", problem.expected);
  return text + fmt::format("found '{}', expected {}", printable(problem.found), problem.expected);
}

Parsed TraceParser::bad(int column, std::string_view field, std::string_view found,
                        std::string_view expected) {
  problem_ = {column, std::string(field), std::string(found.substr(0, 100)), std::string(expected),
              false};
  return Parsed::kBad;
}

Parsed TraceParser::missing(int column, std::string_view field, std::string_view expected) {
  problem_ = {column, std::string(field), "", std::string(expected), true};
  return Parsed::kBad;
}

}  // namespace muster
