#include "report/units.h"

#include <array>
#include <cmath>

#include <fmt/format.h>

namespace muster {
namespace {

// Three significant digits, without an exponent for the sizes people meet.
std::string short_number(double value) {
  const double size = std::abs(value);
  if (size != 0 && size < 0.001) return fmt::format("{:.2g}", value);
  if (size < 1) return fmt::format("{:.3f}", value);
  if (size < 10) return fmt::format("{:.2f}", value);
  if (size < 100) return fmt::format("{:.1f}", value);
  return count_text(std::round(value));
}

std::string with_separators(std::string digits) {
  const std::size_t first = digits.front() == '-' ? 1 : 0;
  for (std::size_t i = digits.size(); i > first + 3; i -= 3) digits.insert(i - 3, 1, ',');
  return digits;
}

struct Span {
  double seconds;
  std::string_view name;
};

}  // namespace

std::string_view unit_name(Unit unit) {
  switch (unit) {
    case Unit::kSeconds:
      return "s";
    case Unit::kGpuHours:
      return "GPU h";
    case Unit::kMegabytes:
      return "MB";
    case Unit::kDollars:
      return "$";
    case Unit::kCount:
    case Unit::kRatio:
    case Unit::kFactor:
      return "";
  }
  return "";
}

std::string count_text(double value) {
  if (!std::isfinite(value)) return "n/a";
  if (std::abs(value) >= 1e15) return fmt::format("{:.3g}", value);
  if (value == std::floor(value)) return with_separators(fmt::format("{:.0f}", value));
  return short_number(value);
}

std::string duration_text(double seconds) {
  if (!std::isfinite(seconds)) return "n/a";
  if (seconds < 0) return "-" + duration_text(-seconds);
  if (seconds == 0) return "0 s";
  if (seconds < 0.9995) return fmt::format("{:.3g} ms", seconds * 1e3);
  if (seconds < 9.95) return fmt::format("{:.2g} s", seconds);
  // Two neighbouring units; rounding to the smaller one may carry into the larger ("60 min" never
  // shows).
  constexpr std::array<Span, 4> kSpans = {{{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}}};
  for (std::size_t i = 0; i + 1 < kSpans.size(); ++i) {
    const double rounded = std::round(seconds / kSpans[i + 1].seconds) * kSpans[i + 1].seconds;
    if (rounded < kSpans[i].seconds) continue;
    const double whole = std::floor(rounded / kSpans[i].seconds);
    const double rest = std::round((rounded - whole * kSpans[i].seconds) / kSpans[i + 1].seconds);
    if (rest == 0 || whole >= 100) return fmt::format("{} {}", count_text(whole), kSpans[i].name);
    return fmt::format("{:.0f} {} {:.0f} {}", whole, kSpans[i].name, rest, kSpans[i + 1].name);
  }
  return fmt::format("{:.0f} s", seconds);
}

std::string clock_text(double seconds) {
  if (!std::isfinite(seconds)) return "n/a";
  if (seconds < 0) return "-" + clock_text(-seconds);
  const double whole = std::floor(seconds);
  const double days = std::floor(whole / 86400);
  const int rest = static_cast<int>(whole - days * 86400);
  const std::string clock =
      fmt::format("{:02}:{:02}:{:02}", rest / 3600, rest / 60 % 60, rest % 60);
  return days > 0 ? fmt::format("{} d {}", count_text(days), clock) : clock;
}

std::string number_text(double value, Unit unit) {
  if (!std::isfinite(value)) return "n/a";
  switch (unit) {
    case Unit::kCount:
      return count_text(value);
    case Unit::kSeconds:
      return duration_text(value);
    case Unit::kRatio:
      return fmt::format("{:.1f} %", value * 100);
    case Unit::kFactor:
    case Unit::kGpuHours:
    case Unit::kMegabytes:
      return short_number(value);
    case Unit::kDollars:
      return fmt::format("{:.2f}", value);
  }
  return "";
}

}  // namespace muster
