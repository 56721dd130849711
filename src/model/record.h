// What a run tells the outside while it goes on: one record per job that leaves, one line of
// statistics per turn, every decision. Observers fold, write or show these; the engine keeps none
// of them.
#pragma once

#include <string>

#include "base/symbols.h"
#include "model/decision.h"
#include "model/job.h"
#include "model/job_metrics.h"

namespace muster {

struct JobRecord {
  JobId id{};
  std::string name;
  Seconds submit = 0;
  Seconds arrival = 0;
  Seconds start = kNever;  // first start; kNever if it never ran
  Seconds end = kNever;    // when it left: finished, failed or refused
  Seconds queue =
      0;         // seconds without GPUs between submit and end, waits after preemptions included
  int gpus = 0;  // asked for
  JobState status = JobState::kFinished;
  Reason reason = Reason::kCompleted;
  int preemptions = 0;
  int restarts = 0;
  int resizes = 0;
  Seconds duration = 0;    // undisturbed run time
  double gpu_seconds = 0;  // held
  double cost = 0;         // dollars for the GPUs it held; shared ones count in full
  double lost_work = 0;
  Seconds overhead = 0;
  Seconds deadline = kNever;
  // When its work was done, where a scheduler that ends jobs itself noticed it only at a later
  // turn: deadlines are judged by this. kNever: when it left.
  Seconds done = kNever;
  double value = 0;       // what its end is worth; 0 without a deadline
  double best_value = 0;  // what it would have been worth in time
  int priority = 0;
  Symbol user = kNoSymbol;
  Symbol partition = kNoSymbol;
  Symbol model = kNoSymbol;

  Seconds completion_time() const { return end - submit; }
  bool has_deadline() const { return deadline != kNever; }
  // Seconds after the deadline; negative where it was early. For finished jobs with a deadline.
  Seconds lateness() const { return (done == kNever ? end : done) - deadline; }
  bool met_deadline() const {
    return has_deadline() && status == JobState::kFinished && lateness() <= 0;
  }
};

// The state of the cluster after a turn; it holds until the next turn.
struct TurnStats {
  Seconds time = 0;
  Seconds previous = 0;   // time of the turn before; the first turn repeats its own time
  std::int32_t held = 0;  // jobs that admission makes wait
  std::int32_t waiting = 0;
  std::int32_t running = 0;
  std::int32_t usable_gpus = 0;  // of nodes that are up
  std::int32_t used_gpus = 0;
  std::int32_t demanded_gpus = 0;  // by waiting and running jobs together
  std::int32_t stops = 0;          // preemptions in this turn
  std::int32_t skipped = 0;        // turns since the last one in which nothing could change
  double spent = 0;                // dollars for the GPUs in use since the turn before
  std::int32_t programs = 0;       // programs solved to choose its plan
  double gap = 0;                  // how much better another plan could have been, relative
  // Only where the engine was asked to look closely; else 0.
  double blocking_index = 0;  // of waiting jobs: time waited over time still to run alone, averaged
  StageTimes busy{};          // part of the usable GPUs' storage, CPU, GPU and network kept busy
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_decision(const Decision&) {}
  // Called right after on_decision for every start, resize and move: the GPUs the job holds from
  // now on.
  virtual void on_placement(const Decision&, const GpuSet&) {}
  virtual void on_job_end(const JobRecord&) {}
  virtual void on_turn(const TurnStats&) {}
  // A number that a job reports under a name of its own.
  virtual void on_metric(const JobMetric&) {}
};

}  // namespace muster
