// What a backend reports, and what people request. A recording of these events, with the times of
// the turns, replays a run exactly.
//
// Each event about a launch names it: the job, and the number of the launch. Reports may be late,
// repeated or out of order; a late report about launch 3 never touches launch 4. docs/engine.md has
// a table of what each event does in each state of a job.
#pragma once

#include "base/symbols.h"
#include "model/ids.h"
#include "model/run_id.h"

namespace muster {

// Numbers are the order of the words in recordings: never renumber, only append.
enum class EventKind : std::uint8_t {
  kProgress = 0,  // `work` done, gaining `rate` per second
  kFinished = 1,  // all its work is done, and nothing of it is left
  kFailed = 2,    // the job itself broke, and nothing of it is left; it may be restarted
  kNodeUp = 3,    // the node can be used
  kNodeDown = 4,  // it cannot, and nothing runs there any more
  kGpuUp = 5,     // likewise for one GPU
  kGpuDown = 6,
  kStarted = 7,     // the launch has begun to use its GPUs
  kReturned = 8,    // it never came up, or was lost, and not by the job's fault; nothing is left
  kReleased = 9,    // the stop that was asked for is done: its GPUs are physically free
  kCancelled = 10,  // a person takes the job back
  kRevised = 11,    // a person changes what it asks for: `revision`, `value`
  kDrained = 12,    // the node takes nothing new; jobs that run there go on
  kUndrained = 13,
  kNodeAdded = 14,    // a node of the description that was not there joins the cluster
  kNodeRemoved = 15,  // it leaves for good: jobs no longer wait for it
  kMetric = 16,       // a job reports `value` under the name `metric`
};
inline constexpr std::size_t kEventKinds = 17;

// What of a job can be changed while it is there.
enum class Revision : std::uint8_t {
  kPriority,
  kGpus,       // what it asks for; a job that runs with another number is started again
  kEstimate,   // seconds that its owner believes it to run
  kTotalWork,  // seconds of undisturbed run that are believed now
  kDeadline,
  kHold,  // 1: it gets no GPUs, and gives back those it has; 0: it may be admitted again
};
inline constexpr std::size_t kRevisions = 6;

struct JobEvent {
  Seconds time = 0;  // by the clock of the service that drives the engine
  EventKind kind = EventKind::kProgress;
  Revision revision = Revision::kPriority;
  Slot slot = kNoSlot;  // a hint where the job lives; kNoSlot: the engine looks for it
  JobId job = kNoJob;
  std::uint32_t launch = 0;  // 0: the present one, from a backend that never speaks late
  NodeId node = kNoNode;
  int gpu = -1;
  // kProgress: done as of `time`. kStarted: what it begins with; kReturned, kReleased: what it
  // leaves behind. Negative: unknown, so what was believed stands.
  double work = -1;
  double rate = 0;
  double saved = -1;  // work that a crash would keep; negative: all of `work`
  double value = 0;   // kRevised: the new value; kProgress: the total believed now, 0: as before
  Symbol metric = kNoSymbol;  // kMetric
};

// What is left of a job's work once it holds no GPUs, or when it begins: what is safe where that is
// said, else all that is done. Negative: not said. Of a failure only what was safe is left.
constexpr double kept_work(const JobEvent& event) {
  const bool all = event.kind == EventKind::kStarted || event.kind == EventKind::kReturned ||
                   event.kind == EventKind::kReleased;
  return event.saved >= 0 || !all ? event.saved : event.work;
}

// Whether policies have to be asked because of it. Where turns follow events, one that is not loud
// does not end the wait; where turns lie on a grid, one that is loud is taken in at the next turn.
constexpr bool loud(EventKind kind) {
  return kind != EventKind::kProgress && kind != EventKind::kStarted &&
         kind != EventKind::kReleased && kind != EventKind::kMetric;
}

}  // namespace muster
