// The accounting `every-stop`: what Blox' simulator counts as preemptions.
//
// Every stop that a placement writes counts, also of a job that gets GPUs again in the same turn; a
// move is such a stop and is not counted twice.
#pragma once

#include "engine/accounting.h"

namespace muster {

AccountingInfo every_stop_accounting();

}  // namespace muster
