// The one name under which traces and tables know a workload: MODEL/DATASET/BATCH, and /amp with
// mixed precision. Missing parts are left out.
#pragma once

#include <string>
#include <string_view>

namespace muster {

inline std::string workload_name(std::string_view model, std::string_view dataset,
                                 std::string_view batch_size, bool mixed_precision) {
  std::string name(model);
  for (const std::string_view part : {dataset, batch_size}) {
    if (!part.empty()) name.append("/").append(part);
  }
  if (mixed_precision) name += "/amp";
  return name;
}

}  // namespace muster
