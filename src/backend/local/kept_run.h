// One launch as its executor on this machine knows it: the folder, the keeper's state as last
// heard, what it has been told to do, and what the scheduler has been told of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>

#include "backend/live/executor.h"
#include "backend/local/keeper_link.h"

namespace muster {

struct KeptRun {
  enum class State : std::uint8_t { kUnknown, kReady, kStarting, kRunning };

  RunId run;
  std::filesystem::path folder;
  pid_t guard = -1;  // where we are its parent; else it was found
  KeeperLink link;
  State state = State::kUnknown;
  bool go = false;               // it may start as soon as it is ready
  std::optional<Grace> stop;     // it is to end; told again to every new connection
  std::optional<double> lease;   // until when, on the keeper's clock; told again as well
  std::optional<RunReport> end;  // how it ended; kept until it is acknowledged
  ProgressReport progress;       // heard and not passed on yet
  bool progressed = false;
  bool ready_told = false;
  bool started_told = false;
  bool census = false;      // a census waits for its state
  double look_at = 0;       // when to try the connection or the record again
  double wait = 0.005;      // and how long to wait after that
  double first_silent = 0;  // since when its keeper has not answered; 0: it answers
  double told_progress_at = 0;

  // What a line of the keeper says about the job's work; false if it is about something else.
  bool hear_progress(std::string_view line);
  // Tells the keeper of the lease, where there is one to be told.
  void tell_lease(double now);
};

// The last word about a launch, from its record.
RunReport report_of_end(RunId run, const struct ExitRecord& record);

}  // namespace muster
