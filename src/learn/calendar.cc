#include "learn/calendar.h"

#include <chrono>

namespace muster {

// Proleptic Gregorian calendar, no leap seconds, as POSIX time counts. Constant time. The day is
// rounded down, so that moments before 1970 fall into the day that they belong to.
CalendarTime calendar_time(std::int64_t seconds) {
  using std::chrono::days;
  using std::chrono::sys_days;
  const std::chrono::sys_seconds moment{std::chrono::seconds(seconds)};
  const sys_days date = std::chrono::floor<days>(moment);
  const std::chrono::year_month_day fields(date);
  CalendarTime time;
  time.year = static_cast<int>(fields.year());
  time.month = static_cast<int>(static_cast<unsigned>(fields.month()));
  time.day = static_cast<int>(static_cast<unsigned>(fields.day()));
  const auto in_day = std::chrono::duration_cast<std::chrono::seconds>(moment - date).count();
  time.hour = static_cast<int>(in_day / 3600);
  time.minute = static_cast<int>(in_day / 60 % 60);
  const auto weekday_of = [](sys_days day) {
    return static_cast<int>(std::chrono::weekday(day).iso_encoding()) - 1;
  };
  const auto first_of = [](int year) {
    return sys_days(std::chrono::year(year) / std::chrono::January / 1);
  };
  time.day_of_week = weekday_of(date);
  time.day_of_year = static_cast<int>((date - first_of(time.year)).count()) + 1;
  // The week belongs to the year in which its Thursday lies (ISO 8601).
  const sys_days thursday = date + days(3 - time.day_of_week);
  const int year = static_cast<int>(std::chrono::year_month_day(thursday).year());
  time.week = static_cast<int>((thursday - first_of(year)).count()) / 7 + 1;
  return time;
}

}  // namespace muster
