#include "backend/live/run_book.h"

#include <array>
#include <cassert>
#include <iterator>

#include <fmt/format.h>

namespace muster {
namespace {

using enum RunState;
using Order = RunCommand;
using News = RunNews;

using Row = std::array<RunAnswer, kRunEvents>;

constexpr RunAnswer stay(RunState state) { return {state, Order::kNone, News::kNone, false}; }
constexpr RunAnswer strange(RunState state, Order command = Order::kNone, News news = News::kNone) {
  return {state, command, news, true};
}

// What is over stays over. Whatever shows up of it is a stray and is killed.
constexpr Row row_of_over(RunState state) {
  return {{
      strange(state),                // granted
      strange(state, Order::kKill),  // ready
      strange(state, Order::kKill),  // started
      stay(state),                   // start failed: said again
      stay(state),                   // exited: said again, or late word of a lost run
      stay(state),                   // stop
      stay(state),                   // overdue
      stay(state),                   // lost
      strange(state, Order::kKill),  // seen ready
      strange(state, Order::kKill),  // seen running
      stay(state),                   // not seen
  }};
}

constexpr std::array<Row, kRunStates> kTable = {{
    // planned: nobody outside has heard of it
    {{
        {kPreparing, Order::kPrepare},            // granted
        strange(kAborting, Order::kKill),         // ready
        strange(kAborting, Order::kKill),         // started
        strange(kPlanned),                        // start failed
        strange(kPlanned),                        // exited
        {kEnded, Order::kNone, News::kReleased},  // stop
        stay(kPlanned),                           // overdue: it may wait for its GPUs
        {kEnded, Order::kNone, News::kReturned},  // lost: with the node that was to run it
        strange(kAborting, Order::kKill),         // seen ready
        strange(kAborting, Order::kKill),         // seen running
        stay(kPlanned),                           // not seen
    }},
    // preparing
    {{
        strange(kPreparing),                              // granted
        {kStarting, Order::kGo},                          // ready
        strange(kRunning, Order::kNone, News::kStarted),  // started without go: take it as it is
        {kEnded, Order::kNone, News::kReturned},          // start failed
        strange(kEnded, Order::kNone,
                News::kEnded),      // exited without go: what it did counts all the same
        {kStopping, Order::kStop},  // stop
        {kAborting, Order::kKill},  // overdue
        {kLost, Order::kNone, News::kReturned},           // lost: it never ran
        {kStarting, Order::kGo},                          // seen ready
        strange(kRunning, Order::kNone, News::kStarted),  // seen running
        {kPreparing, Order::kPrepare},                    // not seen: the order did not arrive
    }},
    // starting
    {{
        strange(kStarting),                        // granted
        {kStarting, Order::kGo},                   // ready, said again: so may go be
        {kRunning, Order::kNone, News::kStarted},  // started
        {kEnded, Order::kNone, News::kReturned},   // start failed
        {kEnded, Order::kNone, News::kEnded},      // exited before we heard that it had started
        {kStopping, Order::kStop},                 // stop
        {kAborting, Order::kKill},                 // overdue
        {kLost, Order::kNone, News::kLost},        // lost: it may have run
        {kStarting, Order::kGo},                   // seen ready: go did not arrive
        {kRunning, Order::kNone, News::kStarted},  // seen running
        {kLost, Order::kNone, News::kLost},        // not seen: gone without a record
    }},
    // running
    {{
        strange(kRunning),                               // granted
        stay(kRunning),                                  // ready: late
        stay(kRunning),                                  // started: said again
        strange(kEnded, Order::kNone, News::kReturned),  // start failed, after it had started
        {kEnded, Order::kNone, News::kEnded},            // exited
        {kStopping, Order::kStop},                       // stop
        stay(kRunning),                                  // overdue: the timer of its start
        {kLost, Order::kNone, News::kLost},              // lost
        stay(kRunning),                                  // seen ready: late
        stay(kRunning),                                  // seen running
        {kLost, Order::kNone, News::kLost},              // not seen
    }},
    // stopping: the executor may not have heard of the stop, or of the run
    {{
        strange(kStopping),                       // granted
        {kStopping, Order::kStop},                // ready: the stop overtook the order
        {kStopping, Order::kStop},                // started
        {kEnded, Order::kNone, News::kReleased},  // start failed
        {kEnded, Order::kNone, News::kReleased},  // exited
        {kStopping, Order::kStop},                // stop, perhaps with a shorter grace
        {kStopping, Order::kKill},                // overdue
        {kLost, Order::kNone, News::kLost},       // lost
        {kStopping, Order::kStop},                // seen ready
        {kStopping, Order::kStop},                // seen running
        {kLost, Order::kNone, News::kLost},       // not seen: it may even have finished
    }},
    // aborting
    {{
        strange(kAborting),                       // granted
        {kAborting, Order::kKill},                // ready, too late
        {kAborting, Order::kKill},                // started, too late
        {kEnded, Order::kNone, News::kReturned},  // start failed
        {kEnded, Order::kNone, News::kEnded},     // exited: it may even have finished
        {kStopping, Order::kKill},                // stop: now the engine waits for it
        {kAborting, Order::kKill},                // overdue
        {kLost, Order::kNone, News::kReturned},   // lost
        {kAborting, Order::kKill},                // seen ready
        {kAborting, Order::kKill},                // seen running
        {kEnded, Order::kNone, News::kReturned},  // not seen
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
