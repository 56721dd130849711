// The policies `fifo-as-coded`, `las-as-coded` and `srtf-as-coded`: how Blox counts waiting.
//
// A job that has waited for long in a row goes first. Blox sets the count of a job's rounds to zero
// in the round that stops it, so that this round does not count as waiting.
#pragma once

#include <vector>

#include "policy/table.h"

namespace muster {

std::vector<PolicyInfo<SchedulingPolicy>> blox_scheduling_rows();

}  // namespace muster
