#include "backend/live/run_book.h"

#include <array>
#include <cassert>
#include <iterator>

#include <fmt/format.h>

namespace muster {
namespace {

using enum RunState;
using News = RunNews;

using Row = std::array<RunAnswer, kRunEvents>;

constexpr RunAnswer stay(RunState state) { return {state, RunCommand::kNone, News::kNone, false}; }
constexpr RunAnswer strange(RunState state, RunCommand command = RunCommand::kNone,
                            News news = News::kNone) {
  return {state, command, news, true};
}

// What is over stays over. Whatever shows up of it is a stray and is killed.
constexpr Row row_of_over(RunState state) {
  return {{
      strange(state),                     // granted
      strange(state, RunCommand::kKill),  // ready
      strange(state, RunCommand::kKill),  // started
      stay(state),                        // start failed: said again
      stay(state),                        // exited: said again, or late word of a lost run
      stay(state),                        // stop
      stay(state),                        // overdue
      stay(state),                        // lost
      strange(state, RunCommand::kKill),  // seen ready
      strange(state, RunCommand::kKill),  // seen running
      stay(state),                        // not seen
  }};
}

constexpr std::array<Row, kRunStates> kTable = {{
    // planned: the executor does not know it yet
    {{
        {kPreparing, RunCommand::kPrepare},            // granted
        strange(kAborting, RunCommand::kKill),         // ready
        strange(kAborting, RunCommand::kKill),         // started
        strange(kPlanned),                             // start failed
        strange(kPlanned),                             // exited
        {kEnded, RunCommand::kNone, News::kReleased},  // stop
        stay(kPlanned),                                // overdue: it may wait for its GPUs
        {kEnded, RunCommand::kNone, News::kReturned},  // lost: with the node that was to run it
        strange(kAborting, RunCommand::kKill),         // seen ready
        strange(kAborting, RunCommand::kKill),         // seen running
        stay(kPlanned),                                // not seen
    }},
    // preparing
    {{
        strange(kPreparing),           // granted
        {kStarting, RunCommand::kGo},  // ready
        strange(kRunning, RunCommand::kNone,
                News::kStarted),                       // started without go: take it as it is
        {kEnded, RunCommand::kNone, News::kReturned},  // start failed
        strange(kEnded, RunCommand::kNone,
                News::kEnded),           // exited without go: what it did counts all the same
        {kStopping, RunCommand::kStop},  // stop
        {kAborting, RunCommand::kKill},  // overdue
        {kLost, RunCommand::kNone, News::kReturned},           // lost: it never ran
        {kStarting, RunCommand::kGo},                          // seen ready
        strange(kRunning, RunCommand::kNone, News::kStarted),  // seen running
        {kPreparing, RunCommand::kPrepare},                    // not seen: the order did not arrive
    }},
    // starting
    {{
        strange(kStarting),                             // granted
        {kStarting, RunCommand::kGo},                   // ready, said again: so may go be
        {kRunning, RunCommand::kNone, News::kStarted},  // started
        {kEnded, RunCommand::kNone, News::kReturned},   // start failed
        {kEnded, RunCommand::kNone, News::kEnded},  // exited before we heard that it had started
        {kStopping, RunCommand::kStop},             // stop
        {kAborting, RunCommand::kKill},             // overdue
        {kLost, RunCommand::kNone, News::kLost},    // lost: it may have run
        {kStarting, RunCommand::kGo},               // seen ready: go did not arrive
        {kRunning, RunCommand::kNone, News::kStarted},  // seen running
        {kLost, RunCommand::kNone, News::kLost},        // not seen: gone without a record
    }},
    // running
    {{
        strange(kRunning),                                    // granted
        stay(kRunning),                                       // ready: late
        stay(kRunning),                                       // started: said again
        strange(kEnded, RunCommand::kNone, News::kReturned),  // start failed, after it had started
        {kEnded, RunCommand::kNone, News::kEnded},            // exited
        {kStopping, RunCommand::kStop},                       // stop
        stay(kRunning),                                       // overdue: the timer of its start
        {kLost, RunCommand::kNone, News::kLost},              // lost
        stay(kRunning),                                       // seen ready: late
        stay(kRunning),                                       // seen running
        {kLost, RunCommand::kNone, News::kLost},              // not seen
    }},
    // stopping: the executor may not know of the stop yet, or of the run
    {{
        strange(kStopping),                            // granted
        {kStopping, RunCommand::kStop},                // ready: the stop overtook the order
        {kStopping, RunCommand::kStop},                // started
        {kEnded, RunCommand::kNone, News::kReleased},  // start failed
        {kEnded, RunCommand::kNone, News::kReleased},  // exited
        {kStopping, RunCommand::kStop},                // stop, perhaps with a shorter grace
        {kStopping, RunCommand::kKill},                // overdue
        {kLost, RunCommand::kNone, News::kLost},       // lost
        {kStopping, RunCommand::kStop},                // seen ready
        {kStopping, RunCommand::kStop},                // seen running
        {kLost, RunCommand::kNone, News::kLost},       // not seen: it may even have finished
    }},
    // aborting
    {{
        strange(kAborting),                            // granted
        {kAborting, RunCommand::kKill},                // ready, too late
        {kAborting, RunCommand::kKill},                // started, too late
        {kEnded, RunCommand::kNone, News::kReturned},  // start failed
        {kEnded, RunCommand::kNone, News::kEnded},     // exited: it may even have finished
        {kStopping, RunCommand::kKill},                // stop: now the engine waits for it
        {kAborting, RunCommand::kKill},                // overdue
        {kLost, RunCommand::kNone, News::kReturned},   // lost
        {kAborting, RunCommand::kKill},                // seen ready
        {kAborting, RunCommand::kKill},                // seen running
        {kEnded, RunCommand::kNone, News::kReturned},  // not seen
    }},
    row_of_over(kEnded),
    row_of_over(kLost),
}};

constexpr std::array<std::string_view, kRunStates> kStateNames = {
    "planned", "preparing", "starting", "running", "stopping", "aborting", "ended", "lost"};
constexpr std::array<std::string_view, kRunEvents> kEventNames = {
    "granted", "ready", "started",    "start failed", "exited",  "stop",
    "overdue", "lost",  "seen ready", "seen running", "not seen"};

}  // namespace

std::string_view run_state_name(RunState state) {
  return kStateNames[static_cast<std::size_t>(state)];
}
std::string_view run_event_name(RunEvent event) {
  return kEventNames[static_cast<std::size_t>(event)];
}

const RunAnswer& run_answer(RunState state, RunEvent event) {
  return kTable[static_cast<std::size_t>(state)][static_cast<std::size_t>(event)];
}

Status RunBook::plan(RunId run) {
  const auto later = runs_.lower_bound(run);
  if (later != runs_.end() && later->first.job == run.job) {
    return Error{
        fmt::format("job {}: launch {} cannot be planned, as the book has launch {}; "
                    "launches are numbered upwards",
                    index(run.job), run.launch, later->first.launch)};
  }
  runs_.emplace(run, kPlanned);
  return Done{};
}

Status RunBook::restore(RunId run, RunState state) {
  if (!runs_.emplace(run, state).second) {
    return Error{
        fmt::format("job {}: launch {} is in the store twice", index(run.job), run.launch)};
  }
  return Done{};
}

RunAnswer RunBook::apply(RunId run, RunEvent event) {
  const auto found = runs_.find(run);
  if (found == runs_.end()) return run_answer(kEnded, event);
  assert(!(event == RunEvent::kGranted && must_wait(run)));
  const RunAnswer& answer = run_answer(found->second, event);
  found->second = answer.next;
  return answer;
}

bool RunBook::must_wait(RunId run) const {
  for (auto it = runs_.lower_bound(RunId{run.job, 0}); it != runs_.end() && it->first < run; ++it) {
    if (!over(it->second)) return true;
  }
  return false;
}

RunState RunBook::state(RunId run) const {
  const auto found = runs_.find(run);
  return found == runs_.end() ? kEnded : found->second;
}

void RunBook::forget(RunId run) {
  const auto found = runs_.find(run);
  if (found == runs_.end()) return;
  assert(over(found->second));
  runs_.erase(found);
}

}  // namespace muster
