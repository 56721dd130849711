// The policies of Lucid's simulator, with what it does beyond what they are meant to.
#include "artifacts/variant.h"

namespace muster {

PolicyInfo<SchedulingPolicy> qssf_as_coded_row() {
  return variant_of(
      scheduling_table(), "qssf", "qssf-as-coded",
      "as qssf, and jobs that find an empty queue go by GPU count in their first turn",
      {"fresh_by_size", ParamKind::kFlag, "true",
       "jobs that find an empty queue go by GPU count in their first turn"});
}

PolicyInfo<PlacementPolicy> packing_as_coded_row() {
  return variant_of(
      placement_table(), "packing", "packing-as-coded",
      "as packing, and who once joined another may not host",
      {"joined_never_host", ParamKind::kFlag, "true", "who once joined another may not host"});
}

}  // namespace muster
