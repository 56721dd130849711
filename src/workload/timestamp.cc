#include "workload/timestamp.h"

#include <array>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "workload/numbers.h"

namespace muster {
namespace {

constexpr std::int64_t kDay = 86400;

// Days since 1970-01-01 in the proleptic Gregorian calendar. Years are counted from March, so that
// the day a leap year adds comes last.
constexpr std::int64_t days_of(std::int64_t year, std::int64_t month, std::int64_t day) {
  if (month <= 2) --year;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const std::int64_t year_of_era = year - era * 400;
  const std::int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const std::int64_t day_of_era =
      year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  constexpr std::int64_t kDaysPerEra = 146097;
  constexpr std::int64_t kEpoch = 719468;  // 1970-01-01, counted from 0000-03-01
  return era * kDaysPerEra + day_of_era - kEpoch;
}
static_assert(days_of(1970, 1, 1) == 0 && days_of(2000, 3, 1) == 11017 &&
              days_of(1969, 12, 31) == -1);

constexpr int days_in_month(int year, int month) {
  constexpr std::array<int, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return month == 2 && leap ? 29 : kDays.at(static_cast<std::size_t>(month - 1));
}

// `count` digits from `at`, or -1. The text is long enough.
int digits(std::string_view text, std::size_t at, int count) {
  int value = 0;
  for (int i = 0; i < count; ++i) {
    const auto digit = static_cast<unsigned>(text[at + static_cast<std::size_t>(i)] - '0');
    if (digit > 9) return -1;
    value = value * 10 + static_cast<int>(digit);
  }
  return value;
}

// What may follow the seconds: a fraction, then a zone.
bool read_tail(std::string_view tail, Seconds& value) {
  if (tail.empty()) return true;
  if (tail.front() == '.') {
    std::size_t end = 1;
    while (end < tail.size() && tail[end] >= '0' && tail[end] <= '9') ++end;
    double fraction = 0;
    if (end == 1 || !read_real(tail.substr(0, end), fraction)) return false;
    value += fraction;
    tail.remove_prefix(end);
  }
  if (tail.empty() || tail == "Z" || tail == "z") return true;
  if (tail.size() != 6 || (tail[0] != '+' && tail[0] != '-') || tail[3] != ':') return false;
  const int hours = digits(tail, 1, 2);
  const int minutes = digits(tail, 4, 2);
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return false;
  const int offset = hours * 3600 + minutes * 60;
  value += tail[0] == '+' ? -offset : offset;
  return true;
}

}  // namespace

bool read_timestamp(std::string_view text, Seconds& value) {
  constexpr std::size_t kPlain = 19;
  if (text.size() < kPlain || text[4] != '-' || text[7] != '-' ||
      (text[10] != ' ' && text[10] != 'T') || text[13] != ':' || text[16] != ':') {
    return false;
  }
  const int year = digits(text, 0, 4);
  const int month = digits(text, 5, 2);
  const int day = digits(text, 8, 2);
  const int hour = digits(text, 11, 2);
  const int minute = digits(text, 14, 2);
  const int second = digits(text, 17, 2);
  if (year < 0 || month < 1 || month > 12 || day < 1 || day > days_in_month(year, month) ||
      hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60) {
    return false;
  }
  const int of_day = hour * 3600 + minute * 60 + second;
  auto time = static_cast<Seconds>(days_of(year, month, day) * kDay + of_day);
  if (text.size() > kPlain && !read_tail(text.substr(kPlain), time)) return false;
  value = time;
  return true;
}

std::string timestamp_text(Seconds time) {
  const auto seconds = static_cast<std::int64_t>(std::floor(time));
  const std::int64_t days = (seconds >= 0 ? seconds : seconds - (kDay - 1)) / kDay;
  const std::int64_t of_day = seconds - days * kDay;
  // A first guess of the year, then a step of at most one.
  std::int64_t year = 1970 + days * 400 / 146097;
  while (days_of(year + 1, 1, 1) <= days) ++year;
  while (days_of(year, 1, 1) > days) --year;
  std::int64_t month = 12;
  while (days_of(year, month, 1) > days) --month;
  const std::int64_t day = days - days_of(year, month, 1) + 1;
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", year, month, day, of_day / 3600,
                     of_day / 60 % 60, of_day % 60);
}

}  // namespace muster
