// Wall-clock times as traces write them. No time zones: a trace is read on its own clock, as if it
// were UTC.
#pragma once

#include <string>
#include <string_view>

#include "model/ids.h"

namespace muster {

// Times in a trace from here on are moments of the calendar (2001 and later), below it seconds
// since the trace began.
constexpr Seconds kWallClock = 1e9;

// "2017-10-09 07:01:55", also with a 'T' between, a fraction of a second, or a 'Z' or "+00:00"-like
// offset behind; as seconds since 1970. False when it is not such a time or not in the calendar.
bool read_timestamp(std::string_view text, Seconds& value);

// The inverse for whole seconds of years 0 to 9999: "2017-10-09 07:01:55".
std::string timestamp_text(Seconds time);

}  // namespace muster
