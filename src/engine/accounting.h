// Accounting: which changes of a turn count as a preemption, in the records of jobs and in the
// statistics of turns; when a deadline counts as met; and what is booked of a profiling stage.
#pragma once

#include <string_view>
#include <vector>

#include "base/params.h"
#include "model/record.h"

namespace muster {

// A job that is without GPUs after a turn in which it lost them always counts.
struct PreemptionRule {
  bool passing_stops = false;  // it was stopped, and started again, while placement was at work
  bool moves = true;           // as many GPUs as before, but others
};

struct AccountingInfo {
  std::string_view name;
  std::string_view sentence;
  std::string_view source;  // paper or system, year; may be empty
  PreemptionRule rule;
  ParamList params = {};  // none so far
  // Compare the deadline with the completion time (end minus submission) instead of with the end.
  bool deadlines_by_completion_time = false;
  // Changes the record of a job that began to be profiled at that time, before it ran in the
  // cluster; null: its record stays as it is.
  void (*book_profiling)(JobRecord& record, Seconds began) = nullptr;
};

const std::vector<AccountingInfo>& accounting_table();

}  // namespace muster
