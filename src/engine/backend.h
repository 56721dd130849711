// The contract with the system that runs jobs: a simulator, child processes, agents on nodes,
// Slurm, or any other.
//
// The life of a command. The engine decides a turn, and for every job that changes it asks act():
// "how will this job go on?". A simulator does it right there and answers with exact numbers; a
// backend that needs time answers with what it believes, and `since` = kNever: an event will say
// when. When the turn is decided, all its orders come together, in dispatch(). Their results are
// reported later, as events that name the launch:
//
//   in a turn                        later, as events
//   act, dispatch ── start ────────► kStarted ────────► kFinished | kFailed
//                          └───────► kReturned (it did not come up: tried again later)
//                 ── stop ─────────► kReleased | kFinished (it was done before it could stop)
//                 ── move, resize ─► kReleased of the old launch, kStarted of the new one
//
// To write one for a system that takes time (docs/engine.md has a whole one, which is tested):
//  1. Say so: answers_later() and has_external_events() return true.
//  2. act(): do nothing yet, and answer with what is believed.
//       kStart, kResize, kMove: `work` = what the job has done, `rate`; `since` = kNever.
//       kStop: `work` = what will be saved, as far as is known; `since` = kNever.
//       kUpdateRate, kAdopt: `work` = what it has done by `now`, `rate`; `since` = `now`, for it
//         runs. Only a job that is still starting (Job::starting) keeps kNever.
//     kUpdateRate is asked right after kStarted was reported: with kNever the job would count as
//     starting again.
//  3. dispatch(): note the orders durably if you must survive a crash, then pass them on. They are
//     netted: at most one per launch, stops first, then moves and resizes, then starts. GPUs of a
//     start may still be in use by a launch that was told to stop: start when that one has left.
//     A job that moves may be given the GPUs of another that moves: take both off before you put
//     one on. A launch never begins before all earlier launches of its job have left.
//  4. Report. Each order to start is answered in the end by kReturned, kFinished, kFailed or, once
//     it was told to stop, kReleased; kStarted comes before these if it began. Reports may be late
//     or repeated, and may cross with orders: each carries its launch number, and the engine has an
//     answer in every state (docs/engine.md). Only the ends of the launches of one job come in
//     their order: that launch 2 is gone says that launch 1 is. Report what a launch has saved when
//     it leaves (kReleased, kReturned) and what it begins with (kStarted): `saved`, or `work` if
//     all of it is safe. Where both are negative, what act() answered stands. Nodes come and go by
//     kNodeUp and kNodeDown; say kNodeDown only when nothing can run there any more.
//  5. Time. Either drive the engine from outside (Engine::due, apply, turn_at) with your own clock
//     and leave advance() and next_event() as they are, or implement these two and call run().
//
// A simulator implements act(), advance() and next_event() and needs nothing else. Time belongs to
// it: advance() jumps.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/archive.h"
#include "engine/job_event.h"
#include "model/decision.h"
#include "model/job_table.h"
#include "model/plan.h"
#include "perf/perf_model.h"

namespace muster {

enum class CommandKind : std::uint8_t {
  kStart,       // a job without GPUs gets some
  kStop,        // it gives them back; a graceful stop may save work
  kResize,      // another number of GPUs: a new launch, unless the backend can do it in place
  kMove,        // the same number elsewhere: a new launch
  kUpdateRate,  // same GPUs, other neighbours; or it has just started: how does it go on?
  kAdopt,       // it was found running on these GPUs: how does it go on?
};

// The question of act().
struct Command {
  CommandKind kind = CommandKind::kStart;
  Slot slot{};
  RunId run;                 // the launch that is meant; of kResize and kMove, the new one
  const Job* job = nullptr;  // its state before the command; `gpus` below is what it gets
  const GpuSet* gpus = nullptr;
  RunContext context;
  bool resumed = false;  // it has run before
  bool graceful = true;  // kStop: false when a node or GPU vanished under it
};

// How a job goes on after a command: it will have done `work` at `since`, and gain `rate` per
// second. `since` = kNever: an event will say when (kStarted; kReleased for a stop).
struct JobProgress {
  double work = 0;
  double rate = 0;
  Seconds since = 0;
  double saved_work = 0;  // what a crash right now would keep
  // kStop: more work to do because of it. A simulator may book what a restart will cost as work of
  // the job right when it stops, instead of as idle time when it comes back; an order by remaining
  // time then sees the cost while the job waits.
  double added_work = 0;
};

// One of a turn's orders: a command that has to be carried out.
struct Order {
  CommandKind kind = CommandKind::kStart;  // kStart, kStop, kResize or kMove
  RunId run;                               // the launch that starts or stops
  RunId before;                            // kResize, kMove: the launch that it replaces
  Slot slot{};
  GpuSet gpus;           // where it runs; of a stop, where it ran
  HostResources host;    // beside each GPU
  bool shared = false;   // others may be on its GPUs
  bool graceful = true;  // kStop: it may save its work
  Reason reason = Reason::kNone;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual JobProgress act(const Command& command, Seconds now) = 0;
  // Whether answers come later. Then Engine::turn() and run() wait for events between turns and
  // take in at once what is not loud, such as that a launch has begun. What is dispatched does not
  // depend on it: that is every command which act() answered with `since` = kNever.
  virtual bool answers_later() const { return false; }
  virtual void dispatch(std::span<const Order> /*orders*/, Seconds /*now*/) {}
  // Lets time pass until `until`, or until the first event if `stop_at_event`; appends what
  // happened, in order, and returns the time reached, which on a live backend is a little later
  // than `until`.
  // Where `until` is kNever the first event ends the wait in any case, and so does a new job in a
  // live inbox. A backend that answers later also returns at an event that is not loud.
  virtual Seconds advance(Seconds until, bool /*stop_at_event*/,
                          std::vector<JobEvent>& /*events*/) {
    return until;
  }
  // Told after every turn in which the policies were asked, once the commands are out. For a
  // simulator that keeps the policy's order among events of the same moment; others ignore it.
  virtual void planned(const Plan&) {}
  // When the next event is due, as far as it is known; kNever if not.
  virtual Seconds next_event() { return kNever; }
  // Whether things may happen that next_event() does not know of: true for everything but a
  // simulation. While jobs run on such a backend the scheduling loop does not end.
  virtual bool has_external_events() const { return false; }
  // A simulator that continues from this very state, for looking ahead; null if there is none. It
  // knows no more than is believed: the jobs that the engine shows to it have forgotten how long
  // they really are, and it gets a rate update for each of them that runs and whose length is a
  // belief.
  virtual std::unique_ptr<Backend> fork() const { return nullptr; }
  // Saved with a run and restored with it (base/archive.h); false: cannot be saved.
  virtual bool checkpoint(Archive&) { return false; }
};

}  // namespace muster
