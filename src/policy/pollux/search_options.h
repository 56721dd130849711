// The parameters that both forms of Pollux share.
#pragma once

#include "base/params.h"
#include "solve/allocation_search.h"

namespace muster {

SearchOptions search_options(const Params& params);

}  // namespace muster
