// Optimus as Blox has it.
#include "base/table_lookup.h"
#include "policy/table.h"

namespace muster {

PolicyInfo<SchedulingPolicy> optimus_as_coded_row() {
  PolicyInfo<SchedulingPolicy> row = **find_row("scheduling policy", scheduling_table(), "srtf");
  row.name = "optimus-as-coded";
  row.sentence =
      "Optimus as coded in Blox: the order of srtf, because its spare GPUs never reach placement; "
      "use it with the performance model of the same name";
  row.source = "Blox, 2024";
  row.system = "Optimus";
  row.form = "the simulator of Blox";
  return row;
}

}  // namespace muster
