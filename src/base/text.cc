#include "base/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace muster {

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

namespace {

// from_chars knows no plus sign; "+5" is 5, "+-5" is nothing.
bool drop_plus(std::string_view& text) {
  if (text.empty() || text.front() != '+') return true;
  text.remove_prefix(1);
  return text.empty() || text.front() != '-';
}

}  // namespace

std::optional<double> parse_real(std::string_view text) {
  if (!drop_plus(text)) return std::nullopt;
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  if (!drop_plus(text)) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<bool> parse_flag(std::string_view text) {
  for (const std::string_view yes : {"true", "yes", "on", "1"}) {
    if (text == yes) return true;
  }
  for (const std::string_view no : {"false", "no", "off", "0"}) {
    if (text == no) return false;
  }
  return std::nullopt;
}

namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

}  // namespace

std::optional<std::string_view> nearest(std::string_view wrong,
                                        std::span<const std::string_view> known) {
  std::optional<std::string_view> best;
  std::size_t best_distance = std::max<std::size_t>(2, wrong.size() / 3) + 1;
  for (const std::string_view name : known) {
    const std::size_t distance = edit_distance(wrong, name);
    if (distance < best_distance) {
      best = name;
      best_distance = distance;
    }
  }
  return best;
}

namespace {

std::string folded(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const bool upper = c >= 'A' && c <= 'Z';
    text += c == '_' ? '-' : upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  for (std::size_t at = 0; (at = text.find("isation", at)) != std::string::npos;)
    text[at + 1] = 'z';
  return text;
}

}  // namespace

bool same_name(std::string_view a, std::string_view b) { return a == b || folded(a) == folded(b); }

std::string unknown_name(std::string_view kind, std::string_view wrong,
                         std::span<const std::string_view> known) {
  if (known.empty()) return fmt::format("no {} '{}'; there are none to choose from", kind, wrong);
  const auto guess = nearest(wrong, known);
  return fmt::format("no {} '{}'; {}known: {}", kind, wrong,
                     guess ? fmt::format("did you mean '{}'? ", *guess) : "",
                     fmt::join(known, ", "));
}

std::string exact_text(double value) {
  // fmt prints the shortest text that round-trips, but whole numbers as "1e+16" or "3.0": people
  // write 3.
  if (std::isfinite(value) && value == std::floor(value) && std::abs(value) < 1e15) {
    return fmt::format("{:.0f}", value);
  }
  return fmt::format("{}", value);
}

double rounded(double value, int decimals) {
  return parse_real(fmt::format("{:.{}f}", value, decimals)).value_or(value);
}

}  // namespace muster
