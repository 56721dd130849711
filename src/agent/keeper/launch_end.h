// The outcome of a launch, from what is known of its end.
#pragma once

#include <vector>

#include "agent/keeper/exit_record.h"

namespace muster {

// A program that exits with this code asks to be started again (EX_TEMPFAIL of sysexits.h).
inline constexpr int kStartMeAgain = 75;

struct LaunchEnd {
  bool started = false;
  bool told_to_stop = false;    // by signal, or killed by us
  bool broke = false;           // a rank failed before it was told to stop
  bool left = false;            // it said that it has saved its work and leaves
  bool done = false;            // it said that it has done all its work
  std::vector<RankExit> ranks;  // in the order in which they ended
};

inline KeeperOutcome outcome_of(const LaunchEnd& end) {
  if (!end.started) return KeeperOutcome::kReturned;
  bool all_well = true;
  bool again = false;
  for (const RankExit& rank : end.ranks) {
    all_well = all_well && rank.code == 0;
    again = again || rank.code == kStartMeAgain;
  }
  // A job that finishes while it is being stopped is finished.
  if (end.done && all_well) return KeeperOutcome::kFinished;
  if (end.broke) return again ? KeeperOutcome::kStopped : KeeperOutcome::kFailed;
  if (end.left || again) return KeeperOutcome::kStopped;
  // Exit code 0 after the stop signal may mean "saved and gone" as well as "finished": to run once
  // more from a checkpoint is safe, to drop the rest of the work is not.
  if (end.told_to_stop) return KeeperOutcome::kStopped;
  return all_well ? KeeperOutcome::kFinished : KeeperOutcome::kFailed;
}

// Of the first rank that did not end well; as a shell would say it.
inline int exit_code(const LaunchEnd& end) {
  for (const RankExit& rank : end.ranks) {
    if (rank.signal != 0) return 128 + rank.signal;
    if (rank.code > 0) return rank.code;
  }
  return 0;
}

}  // namespace muster
