// The table of performance models by name, with the files of measurements that some of them read.
// Several may be chosen: their rates multiply (perf/product.h).
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/params.h"
#include "base/symbols.h"
#include "perf/perf_model.h"

namespace muster {

struct PerfInfo {
  std::string_view name;
  std::string_view sentence;
  std::string_view source;
  ParamList params;
  Result<std::unique_ptr<PerfModel>> (*make)(const Params&, Symbols&);
};

const std::vector<PerfInfo>& perf_table();

}  // namespace muster
