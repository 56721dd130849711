#include "base/csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace muster {

namespace {

bool needs_quotes(std::string_view text) {
  // Many readers drop blanks around a field that is not quoted.
  bool found = !text.empty() && (static_cast<unsigned char>(text.front()) <= ' ' ||
                                 static_cast<unsigned char>(text.back()) <= ' ');
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

namespace {

bool is_blank(char letter) { return letter == ' ' || letter == '\t' || letter == '\r'; }

// Takes blanks off the end, but nothing before `least`: what was quoted stays.
void trim_end(std::string& field, std::size_t least) {
  while (field.size() > least && is_blank(field.back())) field.pop_back();
}

}  // namespace

bool next_csv_record(std::string_view& rest, std::vector<std::string>& fields, char separator) {
  if (rest.empty()) return false;
  std::size_t count = 0;
  std::size_t fixed = 0;  // bytes of the field that were quoted, and what came before them
  const auto open_field = [&]() -> std::string& {
    if (count > 0) trim_end(fields[count - 1], fixed);
    fixed = 0;
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
        fixed = field->size();
      }
    } else if (letter == '"') {
      quoted = true;
    } else if (letter == separator) {
      field = &open_field();
    } else if (letter == '\n') {
      ++i;
      break;
    } else if (!field->empty() || fixed > 0 || !is_blank(letter)) {
      field->push_back(letter);
    }
  }
  trim_end(*field, quoted ? field->size() : fixed);
  rest.remove_prefix(i);
  fields.resize(count);
  return true;
}

}  // namespace muster
