// How a launch has ended: as Slurm says, as its script noted, or as the accounts know.
#include <unistd.h>

#include <fmt/format.h>

#include "backend/slurm/slurm_desk.h"
#include "backend/slurm/slurm_record.h"

namespace muster {
namespace {

constexpr int kMostQuestions = 12;  // to accounts that do not answer: for a minute

}  // namespace

std::string SlurmDesk::forgotten(std::uint32_t job) {
  return fmt::format("Slurm does not know job {} any more", job);
}

// Slurm has forgotten the job, but its script has noted how it ended.
bool SlurmDesk::finish_as_recorded(Kept& kept) {
  const auto record = kept.own() ? read_slurm_record(settings_.runs, kept.run.job) : std::nullopt;
  if (!record || (record->launch != kept.run.launch && record->status != 0)) return false;
  const RunOutcome outcome = record->status == 0               ? RunOutcome::kFinished
                             : record->status == kStartMeAgain ? RunOutcome::kStopped
                                                               : RunOutcome::kFailed;
  tell_started(kept);
  end(kept, RunEvent::kExited, outcome, record->status, forgotten(kept.job) + ", but it has ended");
  return true;
}

// Slurm gives the number of a job that it forgot to another one, and takes the end of the first for
// that of the second. A launch that has begun and ended by itself has left a record.
bool SlurmDesk::ended_by_mistake(const Kept& kept, const SlurmJob& row) const {
  if (row.state_name != "COMPLETED" && (row.state_name != "FAILED" || row.exit_code >= 128)) {
    return false;
  }
  if (!kept.own() || !slurm_launch_began(settings_.runs, kept.run)) return false;
  const auto record = read_slurm_record(settings_.runs, kept.run.job);
  return !record || (record->launch != kept.run.launch && record->status != 0);
}

void SlurmDesk::finish(Kept& kept, const SlurmJob& row) {
  const std::string said = "Slurm: " + row.state_name;
  if (row.state == SlurmState::kCancelled) {
    if (!kept.over) tell_job(kept, JobReport::Kind::kCancelled, "it was cancelled in Slurm");
    return end(kept, RunEvent::kExited, RunOutcome::kStopped, row.exit_code, said);
  }
  // One that left because it was told to has said nothing about its work.
  const bool left = kept.own() && words_of(kept).left();
  const bool asked =
      kept.signalled || left || row.exit_code == kStartMeAgain || ended_by_mistake(kept, row);
  if (row.state == SlurmState::kCompleted && !asked) {
    return end(kept, RunEvent::kExited, RunOutcome::kFinished, 0, said);
  }
  if (row.state == SlurmState::kFailed && !asked) {
    return end(kept, RunEvent::kExited, RunOutcome::kFailed, row.exit_code, said);
  }
  if (!kept.over) {
    // Slurm forgets jobs that have ended after a while.
    const Status done = control_.requeue_and_hold(row.id);
    if (!done) say(fmt::format("job {} of Slurm: {}", row.id, done.error().message));
  }
  end(kept, RunEvent::kExited, RunOutcome::kStopped, row.exit_code, said);
}

// Slurm's controller has forgotten the job, but perhaps not its accounts. True: it has ended, or is
// to be asked for again.
bool SlurmDesk::finish_as_accounted(Kept& kept, double now) {
  if (kept.unaccounted > 0 && now < kept.ask_again) return true;
  const auto rows = control_.accounts(kept.job);
  if (!rows) {
    if (kept.unaccounted == 0) say(rows.error().message + "; it will be asked again");
    kept.ask_again = now + kAskAgain;
    return ++kept.unaccounted <= kMostQuestions;
  }
  for (std::size_t i = rows->size(); i-- > 0;) {
    const auto& row = (*rows)[i];
    const auto mark = mark_of(row);
    if (!mark || mark->nonce != kept.nonce || (kept.own() && mark->run.job != kept.run.job)) {
      continue;  // another job that had its number
    }
    const std::string said =
        fmt::format("{}; its accounts: {}", forgotten(kept.job), row.state_name);
    if (row.state == SlurmState::kCancelled) {
      tell_job(kept, JobReport::Kind::kCancelled, "it was cancelled in Slurm");
      end(kept, RunEvent::kExited, RunOutcome::kStopped, row.exit_code, said);
      return true;
    }
    // One that left because it was told to has said nothing about its work.
    const bool by_itself =
        access(told_file(mark->run).c_str(), F_OK) != 0 && row.exit_code != kStartMeAgain;
    const bool completed = row.state == SlurmState::kCompleted;
    if (!by_itself || (!completed && row.state != SlurmState::kFailed)) return false;
    tell_started(kept);
    end(kept, RunEvent::kExited, completed ? RunOutcome::kFinished : RunOutcome::kFailed,
        row.exit_code, said);
    return true;
  }
  return false;
}

void SlurmDesk::end(Kept& kept, RunEvent event, RunOutcome outcome, int code,
                    const std::string& why) {
  RunReport report;
  report.run = kept.run;
  report.event = event;
  report.outcome = outcome;
  report.exit_code = code;
  if (kept.words) report.saved_step = kept.words->saved_step();
  report.detail = why;
  kept.end = report;
  tell_(report);
}

void SlurmDesk::start_failed(Kept& kept, const std::string& why) {
  end(kept, RunEvent::kStartFailed, RunOutcome::kStopped, 0, why);
}

}  // namespace muster
