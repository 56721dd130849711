#include "report/json.h"

#include <cmath>
#include <cstdint>
#include <iterator>

#include <fmt/format.h>

#include "base/text.h"

namespace muster {
namespace {

// Length of the UTF-8 sequence at the front of `text`, or 0 if it is not one.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const std::size_t length = lead < 0x80                   ? 1
                             : lead >= 0xC2 && lead < 0xE0 ? 2
                             : lead >= 0xE0 && lead < 0xF0 ? 3
                             : lead >= 0xF0 && lead < 0xF5 ? 4
                                                           : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const bool overlong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90);
  const bool beyond = (lead == 0xED && byte(1) >= 0xA0) || (lead == 0xF4 && byte(1) >= 0x90);
  return overlong || beyond ? 0 : length;
}

}  // namespace

void JsonWriter::new_line() {
  if (indent_ == 0) return;
  out_.push_back('\n');
  out_.append(filled_.size() * static_cast<std::size_t>(indent_), ' ');
}

void JsonWriter::separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (filled_.empty()) return;
  if (filled_.back()) out_.push_back(',');
  filled_.back() = true;
  new_line();
}

JsonWriter& JsonWriter::begin(char bracket) {
  separate();
  out_.push_back(bracket);
  filled_.push_back(false);
  return *this;
}

JsonWriter& JsonWriter::end(char bracket) {
  const bool filled = filled_.back();
  filled_.pop_back();
  if (filled) new_line();
  out_.push_back(bracket);
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  quote(name);
  out_.append(indent_ == 0 ? ":" : ": ");
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  separate();
  quote(text);
  return *this;
}

JsonWriter& JsonWriter::value(double number) {
  if (!std::isfinite(number)) return null();
  separate();
  out_.append(exact_text(number));
  return *this;
}

JsonWriter& JsonWriter::value(bool flag) {
  separate();
  out_.append(flag ? "true" : "false");
  return *this;
}

JsonWriter& JsonWriter::null() {
  separate();
  out_.append("null");
  return *this;
}

void JsonWriter::quote(std::string_view text) {
  out_.push_back('"');
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) {
      out_.append("\\ufffd");
      text.remove_prefix(1);
      continue;
    }
    const std::string_view letter = text.substr(0, length);
    text.remove_prefix(length);
    const auto code = static_cast<unsigned char>(letter.front());
    if (letter == "\"" || letter == "\\") {
      out_.push_back('\\');
      out_.append(letter);
    } else if (letter == "\n") {
      out_.append("\\n");
    } else if (letter == "\t") {
      out_.append("\\t");
    } else if (code < 0x20 || code == 0x7F || letter == "<" || letter == ">" || letter == "&") {
      fmt::format_to(std::back_inserter(out_), "\\u{:04x}", code);
    } else if (letter == "\u2028" || letter == "\u2029") {
      out_.append(letter == "\u2028" ? "\\u2028" : "\\u2029");
    } else {
      out_.append(letter);
    }
  }
  out_.push_back('"');
}

}  // namespace muster
