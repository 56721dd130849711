// The contract with whatever runs jobs: a simulator, child processes, agents on nodes, Slurm.
//
// The engine commands; the backend answers with the rate it expects and reports events. A backend
// that simulates knows everything at once; one that drives real processes answers with what it
// knows and sends progress later. Time belongs to the backend: advance() jumps in simulation and
// sleeps in life.
//
// The commands of one turn come in this order: stops, then resizes and moves, then starts, then
// rate updates of those who stay beside others than before. A job that moves or grows may be told
// so before another has left its new GPUs, for two may change places; whoever drives real GPUs
// takes all these jobs off before it puts any of them on.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/job_event.h"
#include "model/job_table.h"
#include "model/plan.h"
#include "perf/perf_model.h"

namespace muster {

enum class CommandKind : std::uint8_t {
  kStart,       // a job without GPUs gets some
  kStop,        // it gives them back; a graceful stop may save work
  kResize,      // another number of GPUs
  kMove,        // the same number elsewhere
  kUpdateRate,  // same GPUs, other neighbours
};

struct Command {
  CommandKind kind = CommandKind::kStart;
  Slot slot{};
  const Job* job = nullptr;  // its state before the command; `gpus` below is what it gets
  const GpuSet* gpus = nullptr;
  RunContext context;
  bool resumed = false;  // it has run before
  bool graceful = true;  // kStop: false when a node or GPU vanished under it
};

// How a job goes on after a command: it will have done `work` at `since`, and gain `rate` per
// second.
struct JobProgress {
  double work = 0;
  double rate = 0;
  Seconds since = 0;
  double saved_work = 0;  // what a crash right now would keep
  double added_work = 0;  // kStop: more work to do because of it
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual JobProgress act(const Command& command, Seconds now) = 0;
  // Lets time pass until `until`, or until the first event if `stop_at_event`; appends what
  // happened, in order, and returns the time reached, which in life is a little later than `until`.
  // Where `until` is kNever the first event ends the wait in any case, and so does a new job in a
  // live inbox.
  virtual Seconds advance(Seconds until, bool stop_at_event, std::vector<JobEvent>& events) = 0;
  // Told after every turn in which the policies were asked, once the commands are out.
  virtual void planned(const Plan&) {}
  // When the next event is due, as far as it is known; kNever if not.
  virtual Seconds next_event() = 0;
  // Whether things may happen that next_event() does not know of: true for everything but a
  // simulation. While jobs run on such a backend the scheduling loop keeps turning.
  virtual bool has_external_events() const { return false; }
  // A simulator that continues from this very state, for looking ahead; null if there is none.
  virtual std::unique_ptr<Backend> fork() const { return nullptr; }
};

}  // namespace muster
