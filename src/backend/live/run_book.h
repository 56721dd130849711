// The life of every launch, as far as the scheduler knows it: one small state machine per run.
//
//   planned ──► preparing ──► starting ──► running ──► ended
//                   │             │           │
//                   └─────────────┴───────────┴──► stopping, aborting ──► ended | lost
//
// The book has no clock, no I/O and no memory but the states. The caller feeds it an event, commits
// the new state, and only then does what the answer says. Every event has an answer in every state;
// the whole table is in run_book.cc and is tested cell by cell. Executors may lose, repeat and
// reorder messages; the answers take that into account.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>

#include "base/result.h"
#include "model/run_id.h"

namespace muster {

enum class RunState : std::uint8_t {
  kPlanned,    // decided; waits until its GPUs are physically free
  kPreparing,  // the executor puts all ranks in place; none has started
  kStarting,   // all in place, `go` is given and not yet confirmed
  kRunning,
  kStopping,  // the scheduler wants its GPUs back
  kAborting,  // it did not start in time; the scheduler did not ask for its end
  kEnded,     // nothing of it is left, and its executor said so
  kLost,      // nothing of it is left: its fence has expired, or its executor does not know it
};
inline constexpr std::size_t kRunStates = 8;

enum class RunEvent : std::uint8_t {
  kGranted,      // its GPUs are physically free and now its own
  kReady,        // executor: all ranks are in place
  kStarted,      // executor: all ranks have started
  kStartFailed,  // executor: it did not start, and nothing of it is left
  kExited,       // executor: it had started, and nothing of it is left
  kStop,         // engine: stop it
  kOverdue,      // timer: what the state waits for takes too long
  kLost,         // its node has been silent for longer than the fence
  kSeenReady,    // census: in place, not started
  kSeenRunning,  // census: started
  kNotSeen,      // census: all its nodes answered, none knows it or has its exit record
};
inline constexpr std::size_t kRunEvents = 11;

// What to tell the executor. All of these may be said twice: a run is prepared, started and stopped
// once, however often it is said.
enum class RunCommand : std::uint8_t { kNone, kPrepare, kGo, kStop, kKill };

// What to tell the engine.
enum class RunNews : std::uint8_t {
  kNone,
  kStarted,
  kReturned,  // it never ran, and not by its own fault: back to the queue
  kReleased,  // the stop that was asked for is done; its outcome says whether it had finished
  kEnded,     // it ended by itself
  kLost,      // it may have run; go on from its last checkpoint
};

struct RunAnswer {
  RunState next = RunState::kEnded;
  RunCommand command = RunCommand::kNone;
  RunNews news = RunNews::kNone;
  bool strange = false;  // cannot happen unless a part is broken: worth a line in the log

  friend bool operator==(const RunAnswer&, const RunAnswer&) = default;
};

constexpr bool over(RunState state) {
  return state == RunState::kEnded || state == RunState::kLost;
}
std::string_view run_state_name(RunState state);
std::string_view run_event_name(RunEvent event);

// The answer to `event` in `state`: the table itself.
const RunAnswer& run_answer(RunState state, RunEvent event);

class RunBook {
 public:
  // A new launch. Its number must be above those of all launches of the job that the book knows.
  Status plan(RunId run);
  // A run of an earlier life of the daemon, in the state that was committed.
  Status restore(RunId run, RunState state);

  // What follows from an event. A run that the book does not know is taken for one that ended.
  RunAnswer apply(RunId run, RunEvent event);

  // Whether an earlier launch of the job is not over: until then this one must not be prepared, on
  // whichever GPUs, or the job would run twice.
  bool must_wait(RunId run) const;

  // Ended, too, where the book does not know it.
  RunState state(RunId run) const;
  bool knows(RunId run) const { return runs_.contains(run); }
  const std::map<RunId, RunState>& runs() const { return runs_; }
  // Drops a run that is over. Later words about it are answered all the same.
  void forget(RunId run);

 private:
  std::map<RunId, RunState> runs_;  // by job, then launch
};

}  // namespace muster
