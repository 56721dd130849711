// Numbers as people read them. A unit says what a number means; the texts are for tables and pages,
// never for files that a program reads back (those use exact_text).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace muster {

enum class Unit : std::uint8_t {
  kCount,      // 82,247
  kSeconds,    // 1 d 3 h
  kRatio,      // 71.3 %
  kFactor,     // 3.42
  kGpuHours,   // 1,234 GPU h
  kMegabytes,  // 512 MB
  kDollars,    // 439.70 $
};

// Which way is good; decides what a table marks as best.
enum class Better : std::uint8_t { kNeither, kLower, kHigher };

std::string_view unit_name(Unit unit);  // "s", "GPU h"; empty for plain numbers

std::string count_text(double value);       // "82,247"; "12.5"
std::string duration_text(double seconds);  // "1 d 3 h", "2 h 10 min", "45 s", "3.2 s", "120 ms"
std::string clock_text(
    double seconds);  // "03:14:07", "12 d 03:14:07": a moment on the clock of a trace
std::string number_text(double value, Unit unit);  // "n/a" for what is not a number

}  // namespace muster
