// A simulated cluster in which commands take time, fail, and are heard of late (life.h). It stands
// in front of a SimBackend, which knows how jobs progress once they have started, and is to the
// engine what a real cluster is: it answers later (engine/backend.h).
//
//   dispatch ─► queued ─► starting ─► running ─► (its work is done) ─► kFinished
//                 │          │ └─► kReturned │
//                 │          └───────────────┴─► stopping ─► kReleased
//                 └─ (stopped before it began: gone at once; while an earlier launch of its job is
//                     not known to be gone: withdrawn, and ─► kReleased after that one)
//
// A launch is queued until the jobs that were told to leave its GPUs have left, and until the ends
// of all earlier launches of its job have been heard: one of them may have finished the job. A job
// that would be done before its stop is through finishes instead. Words of all this reach the
// engine late, or with the next census if they are lost; they carry the time at which they arrive.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "backend/sim/life.h"
#include "backend/sim/runs_by_node.h"
#include "backend/sim/sim_backend.h"

namespace muster {

class LifeBackend final : public Backend {
 public:
  LifeBackend(SimParts parts, const LifeOptions& life);
  LifeBackend(const LifeBackend& other);
  LifeBackend& operator=(const LifeBackend&) = delete;
  ~LifeBackend() override = default;

  // The clock shows this from now on, for one that takes over a run in the middle.
  void begin_at(Seconds now) {
    now_ = now;
    inner_->begin_at(now);
  }
  bool answers_later() const override { return true; }
  JobProgress act(const Command& command, Seconds now) override;
  void dispatch(std::span<const Order> orders, Seconds now) override;
  Seconds advance(Seconds until, bool stop_at_event, std::vector<JobEvent>& events) override;
  Seconds next_event() override;
  std::unique_ptr<Backend> fork() const override;
  bool checkpoint(Archive& archive) override;

 private:
  enum class Phase : std::uint8_t { kQueued, kStarting, kRunning, kStopping, kWithdrawn };
  struct Run {
    Slot slot = kNoSlot;
    GpuSet gpus;
    CommandKind kind = CommandKind::kStart;  // by which it came
    Phase phase = Phase::kQueued;
    Seconds at = kNever;      // when the phase ends by itself
    Seconds began = 0;        // when it started
    double saved = 0;         // kStopping: the work that it saves
    double kept = 0;          // kStopping: the work that is safe if its node is lost before that
    bool fails = false;       // kStarting: it will not come up
    bool finishes = false;    // kStopping: it will be done before that
    bool progresses = false;  // kRunning: the simulation has been told of it
  };
  using Runs = std::map<RunId, Run>;

  JobProgress stop(const Command& command, Seconds now);
  JobProgress go_on(const Command& command, Seconds now);
  // What is believed of a launch that has not begun.
  JobProgress expected(const Command& command, Seconds now) const;
  // Whether the job of a launch that is stopped now will be done before that.
  bool finishes_within(RunId id, const Command& command, Seconds now) const;
  // The command by which the launch came, for the moment at which it began.
  static Command beginning_of(const Run& run, const Command& command) {
    Command begin = command;
    begin.kind = run.kind;
    begin.resumed = run.kind != CommandKind::kStart || command.job->held_before > 0;
    return begin;
  }
  bool stop_unheard(RunId id, Run& run, const Command& command, Seconds now,
                    JobProgress& progress) const;
  void begin_stop(RunId id, Seconds now);
  // Looks at the launches that were woken: no other waits for less than before.
  void start_those_that_can(Seconds now);
  bool can_start(RunId id, const Run& run) const;
  // Whether the ends of all earlier launches of its job have been heard.
  bool is_first(RunId id) const;
  // The next launch of a job may begin, or be reported as gone.
  void wake_next(JobId job);
  void enter(RunId id, Run& run, Phase phase);
  // Where launches of this phase are noted by their nodes; null: nowhere.
  RunsByNode* by_node(Phase phase);
  void set_timer(RunId id, Run& run, Seconds at);
  void erase(Runs::iterator at);
  // The phase of a launch is over.
  void expire(RunId id);
  // What the simulation says: jobs whose work is done, nodes.
  void take_from_simulation(Seconds until, std::vector<JobEvent>& events);
  void lose(const JobEvent& event);
  void report(RunId id, Slot slot, EventKind kind, double saved, bool of_end, Seconds happened);
  // The time of the next thing that happens here, not in the simulation.
  Seconds next_own() const;

  std::shared_ptr<const PerfModel> perf_;
  LifeOptions life_;
  std::unique_ptr<SimBackend> inner_;
  Runs runs_;
  RunsByNode queued_;
  RunsByNode stopping_;
  std::vector<RunId> woken_;  // those queued or withdrawn that may go on now
  std::set<JobId> unheard_;   // jobs of which the end of a launch is on its way to the engine
  std::set<std::pair<Seconds, RunId>> timers_;
  std::map<std::pair<Seconds, std::uint64_t>, JobEvent> reports_;  // by time, then in order
  std::uint64_t reported_ = 0;
  std::vector<JobEvent> inner_events_;
  Seconds now_ = 0;
};

}  // namespace muster
