#include "policy/placement/search_placement.h"
#include "policy/shared_params.h"
#include "policy/table.h"

namespace muster {

PolicyInfo<PlacementPolicy> consolidated_row() {
  return {"consolidated",
          "as few nodes as possible, tightest fit first",
          "folklore",
          {{"one_node", ParamKind::kFlag, "false", "never split a job across nodes"}, kBackfill},
          [](const Params& params) -> std::unique_ptr<PlacementPolicy> {
            const bool one_node = params.flag("one_node");
            return std::make_unique<SearchPlacement>(
                params.flag("backfill"), one_node ? find_tightest_node : find_fewest_nodes,
                one_node);
          }};
}

}  // namespace muster
