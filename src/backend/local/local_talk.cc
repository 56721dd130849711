// The executor's answers to reports of keepers, and to keepers that do not report.
#include <algorithm>
#include <sys/wait.h>

#include <fmt/format.h>

#include "agent/keeper/keeper.h"
#include "agent/keeper/process_tree.h"
#include "backend/local/local_executor.h"
#include "backend/local/run_folder.h"

namespace muster {
namespace {

// How long a launch without record, keeper and guard is looked at again before it is given up: a
// keeper that was started a moment ago is not yet known by its name.
constexpr double kSilence = 1;

}  // namespace

void LocalExecutor::look(KeptRun& kept, double now) {
  if (kept.link.connect(kept.folder)) return greet(kept);
  look_for_end(kept, now);
  kept.wait = std::min(2 * kept.wait, 0.25);
  kept.look_at = now + kept.wait;
}

void LocalExecutor::greet(KeptRun& kept) {
  kept.first_silent = 0;
  kept.wait = 0.005;
  kept.link.say(fmt::format("hello {}", generation_));
  kept.tell_lease(keeper_clock());
  if (kept.stop) {
    kept.link.say(kept.stop->seconds > 0 ? fmt::format("stop {:.3f}", kept.stop->seconds) : "kill");
  }
}

void LocalExecutor::hear(KeptRun& kept) {
  bool open = true;
  for (const std::string& line : kept.link.hear(open)) {
    if (line.starts_with("state ")) {
      heard_state(kept, std::string_view(line).substr(6));
    } else {
      kept.hear_progress(line);
    }
    if (kept.end) return;
  }
  if (open) return;
  kept.link.close();
  const double now = keeper_clock();
  look_for_end(kept, now);
  kept.look_at = now + kept.wait;
}

void LocalExecutor::heard_state(KeptRun& kept, std::string_view state) {
  if (state == "ready") {
    kept.state = KeptRun::State::kReady;
    if (kept.go && !kept.stop) kept.link.say("go");
    if (!std::exchange(kept.ready_told, true)) {
      tell(kept, kept.census ? RunEvent::kSeenReady : RunEvent::kReady);
    }
  } else if (state == "starting") {
    kept.state = KeptRun::State::kStarting;
  } else if (state.starts_with("recorded")) {
    look_for_end(kept, keeper_clock());
  } else if (state == "running" || state == "stopping") {
    kept.state = KeptRun::State::kRunning;
    if (!std::exchange(kept.started_told, true)) {
      tell(kept, kept.census ? RunEvent::kSeenRunning : RunEvent::kStarted);
    }
  }
  // One that is clearing is about to have a record, which says more.
  if (kept.state == KeptRun::State::kReady || kept.state == KeptRun::State::kRunning) {
    kept.census = false;
  }
}

void LocalExecutor::look_for_end(KeptRun& kept, double now) {
  const Result<std::optional<ExitRecord>> record = read_exit_record(kept.folder);
  if (record && *record) {
    // Its last words may have been on their way when its keeper was done.
    if ((*record)->step >= 0) {
      kept.progress.run = kept.run;
      kept.progress.step = std::max(kept.progress.step, static_cast<double>((*record)->step));
      kept.progressed = true;
    }
    return ended(kept, report_of_end(kept.run, **record));
  }
  RunReport report;
  report.run = kept.run;
  if (!record) {
    report.event = RunEvent::kExited;
    report.outcome = RunOutcome::kStopped;
    report.detail = record.error().message;
    return ended(kept, report);
  }
  // A guard of our own is dead once it has been reaped; one that was found is looked for by name.
  if (kept.guard > 0 && waitpid(kept.guard, nullptr, WNOHANG) != 0) kept.guard = -1;
  if (kept.guard > 0) return;
  if (kept.first_silent <= 0) kept.first_silent = now;
  if (now < kept.first_silent + kSilence || keeper_lives(kept.folder)) return;
  // Both were killed in the same moment. What is left of the launch is known by its mark.
  if (kill_marked("MUSTER_RUN_FOLDER", kept.folder.string()) > 0) return;
  const bool may_have_run = keeper_listened(kept.folder);
  report.event = may_have_run ? RunEvent::kExited : RunEvent::kStartFailed;
  report.outcome = RunOutcome::kStopped;
  report.detail = may_have_run ? "its keeper and its guard were killed"
                               : "its keeper did not come up; see keeper.log in its folder";
  ended(kept, report);
}

void LocalExecutor::ended(KeptRun& kept, RunReport report) {
  kept.link.close();
  kept.census = false;
  if (kept.progressed) pass_progress_on(kept, kNever);
  kept.end = std::move(report);
  mailbox_.post(*kept.end);
}

void LocalExecutor::tell(const KeptRun& kept, RunEvent event) {
  RunReport report;
  report.run = kept.run;
  report.event = event;
  mailbox_.post(report);
}

void LocalExecutor::tell_census() {
  if (census_ == 0) return;
  for (const auto& [run, kept] : kept_) {
    if (kept.census) return;
  }
  mailbox_.post(CensusReport{std::exchange(census_, 0), true});
}

// A job of many ranks says more than anybody wants to know: once a second is enough.
void LocalExecutor::pass_progress_on(KeptRun& kept, double now) {
  if (!kept.progressed || now < kept.told_progress_at + 1) return;
  kept.progressed = false;
  if (now != kNever) kept.told_progress_at = now;
  mailbox_.post(kept.progress);
  kept.progress.metrics.clear();
}

}  // namespace muster
