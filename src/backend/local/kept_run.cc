#include "backend/local/kept_run.h"

#include <algorithm>

#include <fmt/format.h>

#include "agent/keeper/exit_record.h"
#include "backend/live/progress_words.h"

namespace muster {

bool KeptRun::hear_progress(std::string_view line) {
  progress.run = run;
  if (!muster::hear_progress(progress, line)) return false;
  // Whoever decides now should know.
  if (line.starts_with("left ") || line.starts_with("done ")) told_progress_at = 0;
  progressed = true;
  return true;
}

void KeptRun::tell_lease(double now) {
  if (lease) link.say(fmt::format("lease {:.3f}", std::max(0.0, *lease - now)));
}

RunReport report_of_end(RunId run, const ExitRecord& record) {
  RunReport report;
  report.run = run;
  report.event =
      record.outcome == KeeperOutcome::kReturned ? RunEvent::kStartFailed : RunEvent::kExited;
  report.outcome = record.outcome == KeeperOutcome::kFinished ? RunOutcome::kFinished
                   : record.outcome == KeeperOutcome::kFailed ? RunOutcome::kFailed
                                                              : RunOutcome::kStopped;
  report.exit_code = record.exit_code;
  report.saved_step = static_cast<double>(record.saved_step);
  report.detail = record.cause;
  for (const std::string& note : record.notes) report.detail += "; " + note;
  return report;
}

}  // namespace muster
