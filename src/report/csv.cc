#include "report/csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace muster {

namespace {

bool needs_quotes(std::string_view text) {
  bool found = false;
  for (const char letter : text) {
    found = found || letter == ',' || letter == '"' || letter == '\n' || letter == '\r';
  }
  return found;
}

}  // namespace

char* put_integer(char* at, std::int64_t value) {
  return std::to_chars(at, at + kNumberRoom, value).ptr;
}

char* put_number(char* at, double value) {
  // Whole numbers are most of what results hold, and the fast case.
  if (std::abs(value) < 1e15) {
    const auto whole = static_cast<std::int64_t>(value);
    if (static_cast<double>(whole) == value) return put_integer(at, whole);
  }
  if (!std::isfinite(value)) return at;
  return fmt::format_to(at, "{}", value);
}

char* put_field(char* at, std::string_view text) {
  if (!needs_quotes(text)) return std::copy(text.begin(), text.end(), at);
  *at++ = '"';
  for (const char letter : text) {
    if (letter == '"') *at++ = '"';
    *at++ = letter;
  }
  *at++ = '"';
  return at;
}

void append_integer(std::string& out, std::int64_t value) {
  char digits[kNumberRoom];
  out.append(digits, put_integer(digits, value));
}

void append_number(std::string& out, double value) {
  char digits[kNumberRoom];
  out.append(digits, put_number(digits, value));
}

void append_field(std::string& out, std::string_view text) {
  const std::size_t before = out.size();
  out.resize(before + 2 * text.size() + 2);
  out.resize(static_cast<std::size_t>(put_field(out.data() + before, text) - out.data()));
}

bool next_csv_record(std::string_view& rest, std::vector<std::string>& fields) {
  if (rest.empty()) return false;
  std::size_t count = 0;
  const auto open_field = [&]() -> std::string& {
    if (count == fields.size()) fields.emplace_back();
    fields[count].clear();
    return fields[count++];
  };
  std::string* field = &open_field();
  std::size_t i = 0;
  bool quoted = false;
  for (; i < rest.size(); ++i) {
    const char letter = rest[i];
    if (quoted) {
      if (letter != '"') {
        field->push_back(letter);
      } else if (i + 1 < rest.size() && rest[i + 1] == '"') {
        field->push_back('"');
        ++i;
      } else {
        quoted = false;
      }
    } else if (letter == '"') {
      quoted = true;
    } else if (letter == ',') {
      field = &open_field();
    } else if (letter == '\n') {
      ++i;
      break;
    } else if (letter != '\r') {
      field->push_back(letter);
    }
  }
  rest.remove_prefix(i);
  fields.resize(count);
  return true;
}

}  // namespace muster
