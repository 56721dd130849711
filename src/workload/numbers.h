// Number parsing for readers of millions of lines: the same answers as base/text.h, with a short
// way for the plain whole numbers that traces are made of.
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>

namespace muster {

// The whole text must be one number; accepts inf and nan: callers decide. False leaves `value`
// alone.
inline bool read_real(std::string_view text, double& value) {
  constexpr std::size_t kExactDigits = 15;  // every such whole number is a double
  if (!text.empty() && text.size() <= kExactDigits) {
    std::int64_t whole = 0;
    std::size_t i = 0;
    for (; i < text.size(); ++i) {
      const auto digit = static_cast<unsigned>(text[i] - '0');
      if (digit > 9) break;
      whole = whole * 10 + digit;
    }
    // "66.0" is how pandas writes a whole number.
    if (i == text.size() ||
        (i > 0 && i + 2 == text.size() && text[i] == '.' && text[i + 1] == '0')) {
      value = static_cast<double>(whole);
      return true;
    }
  }
  if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
  double parsed = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  if (code != std::errc{} || end != text.data() + text.size()) return false;
  value = parsed;
  return true;
}

// A whole number that fits an int; "4.0" is one.
inline bool read_whole_number(std::string_view text, int& value) {
  double real = 0;
  if (!read_real(text, real) || !(real >= -2147483648.0 && real <= 2147483647.0)) return false;
  const int whole = static_cast<int>(real);
  if (static_cast<double>(whole) != real) return false;
  value = whole;
  return true;
}

}  // namespace muster
