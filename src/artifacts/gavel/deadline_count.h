// The accounting `completion-time-deadlines`: how Gavel's simulator counts missed deadlines.
//
// It compares the completion time, which begins with the submission, with the deadline, which is a
// moment. Jobs that come late hardly ever miss one.
#pragma once

#include "engine/accounting.h"

namespace muster {

AccountingInfo completion_time_deadlines();

}  // namespace muster
