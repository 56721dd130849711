// All launches of a daemon: the run book and the GPU ledger together, and what follows from an
// event for the store, the executor and the engine.
//
// Like its two parts it has no clock and no I/O: time and reports come in; rows, calls and news go
// out. The caller commits the rows first, then makes the calls and passes the news on. If it
// crashes in between, a new object adopts the committed rows, and a census provides the rest.
#pragma once

#include <map>
#include <set>
#include <span>
#include <vector>

#include "daemon/store.h"

namespace muster {

struct LaunchCall {
  RunId run;
  RunCommand command = RunCommand::kNone;
  Grace grace;  // of kStop
  // Of kStop: the launch of the same job that waits for it and is to have some of its nodes, with
  // as many GPUs of each; launch 0: none.
  RunId next{kNoJob, 0};
};

struct LaunchNews {
  RunId run;
  RunNews news = RunNews::kNone;
  RunOutcome outcome = RunOutcome::kFailed;  // of kReleased and kEnded
  double saved_step = -1;
  std::string detail;    // of its end, for people
  bool strange = false;  // with kNone: only worth a line in the log
};

// What follows, in the order in which it is to be done.
struct LaunchEffects {
  std::vector<StoredRun> rows;
  std::vector<LaunchCall> calls;
  std::vector<LaunchNews> news;
  std::vector<RunId> acknowledged;  // ends that need not be reported again, once committed
};

class Launches {
 public:
  explicit Launches(Abilities abilities) : abilities_(abilities) {}

  void add_node(NodeId node, int gpus) { ledger_.add_node(node, gpus); }
  // Continues with the runs of the store. What they wait for starts anew; a census is to follow.
  // Those that were told to stop are told again, with the grace of their job.
  Status adopt(std::span<const StoredRun> runs, Seconds now,
               const std::map<JobId, Seconds>& graces = {});

  // The engine decided: this launch is to run on these GPUs, as soon as they are free.
  Status start(RunId run, const GpuSet& gpus, Sharing sharing, Seconds now);
  void stop(RunId run, Grace grace, Seconds now);
  // The node's fence has passed: nothing can run there any more.
  void lose(NodeId node, Seconds now);

  void heard(const RunReport& report, Seconds now);
  // A census that was complete: what runs, but was neither seen nor has ended, is gone.
  void counted(Seconds now);
  // From here on reports count for the next census.
  void begin_census() { seen_.clear(); }

  // When something takes too long, and what then.
  Seconds due() const;
  void pass_time(Seconds now);

  // Everything since the last call.
  LaunchEffects take();

  RunState state(RunId run) const { return book_.state(run); }
  // The row of a run that is not over; else null.
  const StoredRun* row(RunId run) const {
    const auto found = entries_.find(run);
    return found == entries_.end() ? nullptr : &found->second.row;
  }
  std::vector<RunId> runs() const;
  // Whether an earlier launch of the job is not over.
  bool must_wait(RunId run) const { return book_.must_wait(run); }
  std::size_t alive() const;
  const GpuLedger& ledger() const { return ledger_; }

 private:
  struct Entry {
    StoredRun row;
    Grace grace;
    Seconds overdue = kNever;
    // Whether the executor must know it: it has spoken of it, or its order was given by an earlier
    // daemon, whose orders every keeper refuses that this daemon has asked for a census.
    bool known = false;
  };

  void apply(RunId run, RunEvent event, const RunReport* report, Seconds now);
  void end(Entry& entry, const RunReport* report, Seconds now);
  void set_timer(Entry& entry, Seconds now) const;
  void grant(Seconds now);
  RunId smaller_next(RunId run) const;

  Abilities abilities_;
  RunBook book_;
  GpuLedger ledger_;
  std::map<RunId, Entry> entries_;
  std::set<RunId> granted_;  // hold their GPUs and wait for an earlier launch of their job
  std::set<RunId> seen_;
  LaunchEffects effects_;
};

}  // namespace muster
