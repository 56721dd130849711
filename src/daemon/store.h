// What the daemon must not forget: jobs with their accounts, runs, nodes, decisions, users.
//
// State tables, not a log of events: after a crash the machines have changed and must be inspected
// anyway. Every action is committed before it is carried out. So if the daemon finds a run after a
// restart, its store has that run, too. Times are seconds on the daemon's own clock; what has not
// happened yet is at kNever.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "backend/live/executor.h"

namespace muster {

struct StoredJob {
  JobId id = kNoJob;
  std::string owner;
  std::string name;
  std::string request;      // the id that its submission carried; empty: none
  std::string state;        // as in results
  std::string reason;       // why it is in that state, for people
  std::string description;  // what was submitted, as JSON; opaque here
  Seconds submitted = 0;
  Seconds admitted = kNever;
  Seconds first_start = kNever;
  Seconds ended = kNever;
  double total_work = 0;  // believed
  double work = 0;
  double saved_work = 0;
  double lost_work = 0;
  Seconds held = 0;  // with GPUs
  double gpu_seconds = 0;
  Seconds waited = 0;
  Seconds overhead = 0;
  std::int64_t launches = 0;
  std::int64_t preemptions = 0;
  std::int64_t restarts = 0;
  std::int64_t crashes = 0;
  std::int64_t resizes = 0;
  std::string metrics;             // that policies see: NAME=NUMBER with spaces between
  std::int64_t failed_starts = 0;  // in a row
  Seconds paused_until = 0;        // after those: it is not started again before
  bool opportunistic = false;      // its launch uses what the holders of its GPUs leave
  double cpus_per_gpu = 0;         // that its launch holds
  double memory_per_gpu = 0;
  // Of `held` and `gpu_seconds`, what belongs to launches before the present one. Below zero: not
  // known, as in rows that an earlier program wrote.
  Seconds held_before = -1;
  double gpu_seconds_before = -1;
  Seconds as_of =
      0;  // when `work` was true; while it runs it gains `rate` per second. 0: not known
  double rate = 0;
  // What is believed of its length by now; 0: what the description says.
  Seconds duration = 0;
  Seconds estimate = 0;

  friend bool operator==(const StoredJob&, const StoredJob&) = default;
};

struct StoredRun {
  RunId run;
  RunState state = RunState::kPlanned;
  GpuSet gpus;
  Sharing sharing = Sharing::kExclusive;
  Seconds planned = 0;
  Seconds started = kNever;
  Seconds ended = kNever;
  RunOutcome outcome = RunOutcome::kFailed;  // means something once it has ended
  std::int64_t exit_code = 0;
  double saved_step = -1;
  std::string detail;

  friend bool operator==(const StoredRun&, const StoredRun&) = default;
};

struct StoredNode {
  NodeId id = kNoNode;
  std::string name;
  std::string gpu_type;
  std::int64_t gpus = 0;
  bool drained = false;  // takes nothing new
  std::string reason;    // who drained it, and why; or why it is not up
  // Not kept: the executor says both anew.
  bool up = true;
  bool drained_outside = false;  // by a person, with the executor's own tools

  friend bool operator==(const StoredNode&, const StoredNode&) = default;
};

struct StoredDecision {
  std::int64_t sequence = 0;  // rising, never used twice
  Seconds time = 0;
  JobId job = kNoJob;
  std::string text;

  friend bool operator==(const StoredDecision&, const StoredDecision&) = default;
};

struct StoredUser {
  std::string name;
  std::string role;
  std::string settings;  // limits and token hashes, as JSON; opaque here

  friend bool operator==(const StoredUser&, const StoredUser&) = default;
};

// Everything but the decisions, in order of ids.
struct StoredWorld {
  std::int64_t generation = 0;  // of the daemon that opened the store last; rises with each
  std::int64_t next_decision = 0;
  std::map<std::string, std::string> notes;  // small named values
  std::vector<StoredJob> jobs;
  std::vector<StoredRun> runs;
  std::vector<StoredNode> nodes;
  std::vector<StoredUser> users;

  friend bool operator==(const StoredWorld&, const StoredWorld&) = default;
};

// Changes that belong together. Rows replace those of the same id. Forgetting comes last, and a
// forgotten job takes its runs and decisions with it.
struct Batch {
  std::vector<StoredJob> jobs;
  std::vector<StoredRun> runs;
  std::vector<StoredNode> nodes;
  std::vector<StoredUser> users;
  std::vector<StoredDecision> decisions;
  std::map<std::string, std::string> notes;
  std::vector<JobId> forgotten_jobs;
  std::vector<RunId> forgotten_runs;
  std::vector<std::string> forgotten_users;
};

class Store {
 public:
  virtual ~Store() = default;
  // All batches, in order, or none of them; on success they survive a crash of the machine.
  virtual Status commit(std::span<const Batch> batches) = 0;
  virtual Result<StoredWorld> load() = 0;
  // Those about one job, in order.
  virtual Result<std::vector<StoredDecision>> decisions(JobId job) = 0;
};

}  // namespace muster
