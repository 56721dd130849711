#include "artifacts/gavel/deadline_count.h"

namespace muster {

AccountingInfo completion_time_deadlines() {
  AccountingInfo row = accounting_table().front();
  row.name = "completion-time-deadlines";
  row.sentence =
      "a deadline is met if the completion time (end minus submission), not the end, is at most "
      "the deadline";
  row.source = "Gavel, 2020";
  row.deadlines_by_completion_time = true;
  return row;
}

}  // namespace muster
