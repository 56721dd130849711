#include "engine/accounting.h"

namespace muster {

const std::vector<AccountingInfo>& accounting_table() {
  static const std::vector<AccountingInfo> kTable = {
      {"net",
       "a job that is without its GPUs after a turn, or on others, counts as preempted",
       "folklore",
       {}},
  };
  return kTable;
}

}  // namespace muster
