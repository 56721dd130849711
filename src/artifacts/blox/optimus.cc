// Optimus as Blox has it.
#include "base/table_lookup.h"
#include "policy/table.h"

namespace muster {

PolicyInfo<SchedulingPolicy> optimus_as_coded_row() {
  PolicyInfo<SchedulingPolicy> row = **find_row("scheduling policy", scheduling_table(), "srtf");
  row.name = "optimus-as-coded";
  row.sentence =
      "Optimus as Blox has it: the order of srtf; its spare GPUs never reach placement, and its "
      "speed-up is the performance model of the same name";
  row.source = "Blox, 2024";
  row.system = "Optimus";
  row.form = "the simulator of Blox";
  return row;
}

}  // namespace muster
