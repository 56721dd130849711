#include "artifacts/lucid/profiled_wait.h"

namespace muster {

AccountingInfo profiled_wait_twice() {
  AccountingInfo row = accounting_table().front();
  row.name = "profiled-wait-twice";
  row.sentence = "the wait for a profiler is added to a queueing time that contains it";
  row.source = "Lucid, 2023";
  row.book_profiling = [](JobRecord& record, Seconds began) {
    record.queue += began - record.submit;
  };
  return row;
}

}  // namespace muster
