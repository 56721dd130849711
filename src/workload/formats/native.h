// The columns of Muster's own CSV, in the order in which they are written.
#pragma once

#include <span>

#include "workload/table_parser.h"

namespace muster {

std::span<const TraceColumn> native_columns();

}  // namespace muster
