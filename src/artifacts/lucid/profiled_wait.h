// The accounting `profiled-wait-twice`: the queueing time that Lucid's simulator writes.
//
// It adds the wait for the profiler to the wait for the virtual cluster, which begins with the
// submission, too.
#pragma once

#include "engine/accounting.h"

namespace muster {

AccountingInfo profiled_wait_twice();

}  // namespace muster
