// The contract with the part that carries launches out: processes of this machine, agents on nodes,
// Slurm.
//
// Every call returns at once; answers come later as reports in the mailbox that the executor was
// made with. Reports may be late, repeated or out of order: the run book has an answer to each of
// them. The daemon commits a decision before it calls, and calls again after a restart. So each
// call may come several times, but a run is prepared, started and stopped only once.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "backend/live/gpu_ledger.h"
#include "backend/live/run_book.h"

namespace muster {

struct Abilities {
  bool chooses_gpus = false;  // it picks GPU indexes itself and only counts per node
  bool colocates = true;      // two runs may share a GPU
  Seconds start_limit = 120;  // a start that takes longer is given up
  Seconds stop_margin = 30;   // beyond the grace; then it is killed, and killed again
};

struct RunOrder {
  RunId run;
  std::string name;              // of the job, for people
  std::string origin;            // where the executor found the job; empty: it was submitted here
  std::uint64_t generation = 0;  // of the daemon; older ones are refused
  GpuSet gpus;
  Sharing sharing = Sharing::kExclusive;
  bool process_per_gpu = true;       // one rank per GPU, or one per node that has them all
  std::vector<std::string> command;  // the program and its arguments; no shell sees it
  std::vector<std::pair<std::string, std::string>> environment;
  std::string working_directory;
  std::string user;      // whose processes they are; empty: the daemon's own
  Seconds fence = 0;     // it dies after so long without contact; 0: never
  Seconds grace = 30;    // to save its work, where its lease ends or one of its ranks fails
  Seconds believed = 0;  // how long it is believed to run from here on
  double cpus = 0;       // cores for all its processes; 0: it does not matter
  int max_nodes = 0;     // it must not be spread over more; 0: it may
  double memory_gb = 0;  // limit for all its processes, where the node can; 0: none
};

// The time a run has to save its work before it is killed.
struct Grace {
  Seconds seconds = 0;
};

enum class RunOutcome : std::uint8_t {
  kFinished,
  kStopped,  // it left because it was told to, or asked to be started again
  kFailed,   // by its own fault
};

struct RunReport {
  RunId run;
  RunEvent event = RunEvent::kReady;         // those of executors and of the census
  RunOutcome outcome = RunOutcome::kFailed;  // of kExited
  int exit_code = 0;                         // of the first rank that failed; 128 + n for signal n
  double saved_step = -1;                    // the last checkpoint it spoke of; -1: it did not
  std::string detail;                        // for people
};
struct ProgressReport {
  RunId run;
  double step = 0;
  double total = 0;        // 0: it does not know
  double saved_step = -1;  // -1: it did not say
  std::vector<std::pair<std::string, double>> metrics;
};
struct NodeReport {
  NodeId node = kNoNode;
  bool up = true;        // false: nothing can run there any more
  bool drained = false;  // not by us: it takes nothing new
  int taken = 0;         // GPUs that others than us use
  std::string detail;
};
// A job that the executor found, or what people did to one of ours behind our back, with the tools
// of whatever carries launches out. It is adopted, never fought.
struct JobReport {
  enum class Kind : std::uint8_t {
    kFound,      // it was not submitted to this daemon
    kCancelled,  // or taken out of our hands
    kHeld,
    kReleased,
    kSeen,  // something of it is kept there: is it still wanted?
  };
  Kind kind = Kind::kFound;
  JobId job = kNoJob;  // where it is known; else by owner and origin
  std::string origin;
  std::string owner;
  std::string description;  // of one that is found: as it would be submitted, with its origin
  std::string why;
};
// All that runs has been reported since the census of this number was asked for.
struct CensusReport {
  std::uint64_t number = 0;
  bool complete = true;  // every node answered
};
using Report = std::variant<RunReport, ProgressReport, NodeReport, CensusReport, JobReport>;

class Executor {
 public:
  virtual ~Executor() = default;
  virtual Abilities abilities() const = 0;
  // All ranks in place, none started; answered by kReady or kStartFailed.
  virtual void prepare(const RunOrder& order) = 0;
  // Answered by kStarted or kStartFailed, and in the end by kExited.
  virtual void go(RunId run) = 0;
  // Answered by kExited, or by kStartFailed if it had not started. Without grace it is killed. A
  // run that the executor does not know is answered by kStartFailed, too, and is never prepared
  // after that: the stop may have overtaken the order.
  virtual void stop(RunId run, Grace grace) = 0;
  // A stop, after which the job goes on with fewer nodes: `next` is to have some of those of this
  // run, with as many GPUs of each. An executor that can keeps these instead of giving them back.
  // The next launch is prepared when this one has ended, as after a stop, or never.
  virtual void shrink(RunId run, Grace grace, const RunOrder& /*next*/) { stop(run, grace); }
  // Its GPUs are certain for so long: the job's own lease. Without another word it leaves at its
  // end; kNever: it has none, and stays until it is told to stop.
  virtual void lease(RunId /*run*/, Seconds /*seconds*/) {}
  // Reports how the nodes are where that is not simply up, everything that runs, everything that
  // ended and was not acknowledged, then the census.
  // Its number is never used twice, also after a restart: a late answer to an earlier question must
  // not make a run of today look as if it were gone.
  virtual void census(std::uint64_t number) = 0;
  // The end of the run is committed: its record may be dropped.
  virtual void acknowledge(RunId run) = 0;
  // The job has left for good, though its last launch may still be ending. `taken_back`: a person
  // cancelled it.
  virtual void over(JobId /*job*/, const std::string& /*origin*/, bool /*taken_back*/) {}
};

}  // namespace muster
