// Seconds since 1970 as fields of a calendar, for features that follow the rhythm of days and
// weeks.
#pragma once

#include <cstdint>

namespace muster {

struct CalendarTime {
  int year = 1970;
  int month = 1;
  int day = 1;
  int hour = 0;
  int minute = 0;
  int day_of_week = 0;  // Monday is 0
  int day_of_year = 1;
  int week = 1;  // ISO 8601
};

CalendarTime calendar_time(std::int64_t seconds);

}  // namespace muster
