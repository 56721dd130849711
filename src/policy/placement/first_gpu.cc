#include "policy/placement/search_placement.h"
#include "policy/shared_params.h"
#include "policy/table.h"

namespace muster {

PolicyInfo<PlacementPolicy> first_gpu_row() {
  return {"first-gpu",
          "the lowest-numbered free GPUs",
          "Blox, 2024",
          {kBackfill},
          [](const Params& params) -> std::unique_ptr<PlacementPolicy> {
            return std::make_unique<SearchPlacement>(params.flag("backfill"), find_first_gpus);
          }};
}

}  // namespace muster
