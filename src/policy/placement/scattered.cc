#include "policy/placement/search_placement.h"
#include "policy/shared_params.h"
#include "policy/table.h"

namespace muster {

PolicyInfo<PlacementPolicy> scattered_row() {
  return {"scattered",
          "as many nodes as possible",
          "Blox, 2024",
          {kBackfill},
          [](const Params& params) -> std::unique_ptr<PlacementPolicy> {
            return std::make_unique<SearchPlacement>(params.flag("backfill"), find_most_nodes);
          }};
}

}  // namespace muster
