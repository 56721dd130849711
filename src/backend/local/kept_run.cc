#include "backend/local/kept_run.h"

#include <algorithm>

#include <fmt/format.h>

#include "agent/keeper/exit_record.h"
#include "base/text.h"

namespace muster {

bool KeptRun::hear_progress(std::string_view line) {
  const std::vector<std::string_view> words = split(line, ' ');
  const auto number = [&](std::size_t i) {
    return i < words.size() ? parse_real(words[i]).value_or(0) : 0;
  };
  progress.run = run;
  if (words[0] == "step") {
    progress.step = std::max(progress.step, number(1));
    if (number(2) > 0) progress.total = number(2);
  } else if (words[0] == "saved") {
    progress.saved_step = std::max(progress.saved_step, number(1));
  } else if (words[0] == "left" || words[0] == "done") {
    progress.step = std::max(progress.step, number(2));
    if (words[0] == "left") progress.saved_step = std::max(progress.saved_step, number(2));
    told_progress_at = 0;  // whoever decides now should know
  } else if (words[0] == "metric" && words.size() == 3) {
    const std::string name(words[1]);
    const auto same = [&name](const auto& metric) { return metric.first == name; };
    const auto found = std::find_if(progress.metrics.begin(), progress.metrics.end(), same);
    if (found != progress.metrics.end()) {
      found->second = number(2);
    } else if (progress.metrics.size() < 32) {
      progress.metrics.emplace_back(name, number(2));
    }
  } else {
    return false;
  }
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
