// The decisions and the memory of the daemon, without threads, clock, disk or network: the engine,
// the launches and the accounts together. Submissions, reports, changes and time go in; rows for
// the store and calls for the executor come out. The caller commits the rows, then makes the calls.
// Tests drive this same code with a virtual clock, executor and disk.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "agent/gpus/gpus.h"
#include "backend/live/live_backend.h"
#include "daemon/board.h"
#include "daemon/gpu_meter.h"
#include "daemon/job_alarms.h"
#include "daemon/launches.h"
#include "daemon/live_inbox.h"
#include "daemon/progress_meter.h"
#include "daemon/record/recorder.h"
#include "engine/engine.h"
#include "run/assembly/live_plan.h"
#include "run/whatif/question.h"

namespace muster {

struct CoreSettings {
  std::size_t most_words = 10'000;  // distinct names of users and models that are told apart
  std::string own_user;             // whose jobs run as the daemon itself
  std::string default_partition;    // of jobs that name none; empty: any
};

// A job that has left for good.
struct JobOver {
  JobId job = kNoJob;
  std::string origin;
  bool taken_back = false;
};

// What follows from a step. `batch` first; then the calls, the acknowledgements and the rest.
struct CoreEffects {
  Batch batch;
  std::vector<LaunchCall> calls;
  std::vector<RunId> acknowledged;
  std::vector<std::pair<RunId, Seconds>> leases;  // GPUs are certain for so long; kNever: no lease
  std::vector<JobOver> over;
  std::vector<std::pair<JobId, JobNews>> news;  // what jobs said, for the board
  std::vector<std::pair<JobId, std::shared_ptr<const JobRequest>>> requests;  // that were changed
  std::vector<std::string> log;  // lines for the daemon's log

  bool empty() const { return batch.jobs.empty() && batch.runs.empty() && batch.nodes.empty(); }
};

// Where a job stands among the others.
struct JobStory {
  int free_gpus = 0;
  int usable_gpus = 0;
  // Which waiting jobs will start before it, in that order, as far as can be told: if every job
  // has as much left to do as is believed. Nothing: not known.
  std::optional<std::vector<JobId>> before;
  bool held = false;
  bool waits = false;  // for GPUs, or for the next turn
  std::string policy;
  // Seconds from now until it starts, as believed, and the span in which it lies in 8 of 10
  // futures. kNever: not known.
  Seconds expected = kNever;
  Seconds early = kNever;
  Seconds late = kNever;
};

class Core final : private Observer {
 public:
  // Continues from what the store holds: its jobs, its runs and the drained nodes.
  static Result<std::unique_ptr<Core>> make(LivePlan plan, const Abilities& abilities,
                                            CoreSettings settings, const StoredWorld& world,
                                            Seconds now, CoreRecorder* recorder = nullptr);
  ~Core() override;

  // A job that is committed already; ids rise.
  void submit(const StoredJob& row, std::shared_ptr<const JobRequest> request, Seconds now);
  void hear(const Report& report, Seconds now);
  // What the GPUs of this machine are doing.
  void see_gpus(const std::vector<GpuUse>& uses, Seconds now);
  void begin_census() { launches_.begin_census(); }

  // Changes that people request. They take effect in the next step. Once the core is frozen, jobs
  // can only be cancelled.
  Status cancel(JobId job, const std::string& why);
  Status hold(JobId job, const std::string& why);
  Status release(JobId job);
  // By name: priority, gpus, estimate, deadline (seconds after submission).
  Status revise(JobId job, const std::vector<std::pair<std::string, double>>& changes);
  Status drain(const std::string& name, bool drained, const std::string& why);
  JobStory explain(JobId id) const;
  // A copy of the state, to be asked what would be if.
  Subject subject(Seconds now) const;

  // When step() is to be called at the latest.
  Seconds due();
  // Lets the engine take in what has come, and decide where it is time to.
  void step(Seconds now);
  CoreEffects take(Seconds now);

  // The order of a launch that is to be prepared.
  RunOrder order(RunId run, std::uint64_t generation) const;
  std::size_t launches_alive() const { return launches_.alive(); }
  std::vector<RunId> launches() const { return launches_.runs(); }
  // Ends everything that runs and starts nothing more; jobs wait for the next daemon.
  void close(Seconds now);
  // Why nothing is decided any more; empty: all is well.
  const std::string& frozen() const { return frozen_; }
  const Engine& engine() const { return *engine_; }
  const LivePlan& plan() const { return plan_; }

 private:
  struct Known {
    StoredJob row;
    std::shared_ptr<const JobRequest> request;
    ProgressMeter meter;
    GpuMeter use;
    Seconds stepped = 0;  // when it began, or made its last step
    bool held = false;
    bool over = false;  // only its last launch is not
    std::string said;   // of its last launch, as its executor reported
  };

  Core(LivePlan plan, const Abilities& abilities, CoreSettings settings);
  void settle_without_engine(Seconds now);
  void feed(bool turn, Seconds now, const std::vector<JobEvent>& events);
  Status adopt(const StoredWorld& world, Seconds now);
  void adopt_job(const StoredJob& row, JobRequest request,
                 const std::vector<const StoredRun*>& runs, Seconds now, EngineWorld& found);
  void fail_unreadable(const StoredJob& row, const std::string& why);
  void take_for_true(Known& known, Job& job);
  JobSpec spec_of(const StoredJob& row, const JobRequest& request);
  Symbol word(const std::string& text);
  // What of the request this cluster can never do; empty: nothing.
  std::string refusal(const JobSpec& spec, const JobRequest& request) const;
  // The job leaves without the engine, which has not seen it.
  void leave(Known& known, JobState state, const std::string& why, Seconds now);

  // core_events.cc
  void hear_progress(const ProgressReport& report, Seconds now);
  void tell_metric(JobId job, std::string_view name, double value, Seconds now);
  void expect_end(const Known& known, double step, Seconds now);
  // Seconds of run in all: as its steps tell, or as the engine believes by itself.
  double total_work_of(const Known& known, Slot slot) const;
  void hear_node(const NodeReport& report, Seconds now);
  void set_taken(NodeId node, int taken, Seconds now);
  void tell_drained(NodeId node, Seconds now);
  void hear_job(const JobReport& report);
  void take_news(Seconds now);
  void add_event(const LaunchNews& news, Seconds now);
  void check_limits(Seconds now);
  void check_silence(Seconds now);
  void stand_down(JobId job);
  void give_orders(Seconds now);
  Seconds lease_from(Seconds now);
  void renew_leases(Seconds now);
  void freeze(const std::string& why);

  // core_changes.cc
  Known* active(JobId job);
  Status check_change(JobId job);
  void end_launches(Known& known);
  void set_request(Known& known, JobRequest request);
  JobEvent hold_event(JobId job, bool hold) const;
  Status set_held(JobId job, bool hold, const std::string& why);
  Status person_event(JobId job, JobEvent event, const std::string& why);

  // core_rows.cc
  void on_decision(const Decision& decision) override;
  void on_job_end(const JobRecord& record) override;
  Slot slot_of(JobId job);
  void account(Known& known, const Job& job, Seconds now) const;
  void drop_taken_back();

  LivePlan plan_;
  OutlookParts fresh_;  // what a copy of the engine runs with
  Abilities abilities_;
  CoreSettings settings_;
  LiveBackend backend_;
  LiveInbox inbox_;
  long long leased_ = 0;       // the turn after which leases were given last
  std::uint64_t offered_ = 0;  // jobs of the inbox that the engine knows to be there
  std::unique_ptr<Engine> engine_;
  CoreRecorder* recorder_ = nullptr;  // null: nothing is recorded
  Launches launches_;
  std::map<JobId, Known> known_;                   // not over, or over with a launch that is not
  std::set<JobId> touched_;                        // rows to be written
  std::unordered_map<std::uint32_t, Slot> slots_;  // of jobs that the engine has, as far as noted
  std::size_t noted_ = 0;                          // so many of the engine's slots have been
  std::vector<std::pair<Slot, JobId>> vacant_;     // where these were, and no job is yet
  std::vector<JobEvent> events_;                   // for the engine
  std::map<JobId, std::vector<JobEvent>>
      later_;  // ends that are told after that of an earlier launch
  std::vector<StoredNode> nodes_;
  struct Outside {  // what the executor says of a node
    bool drained = false;
    std::string detail;
    bool told_drained = false;  // to the engine, whatever drained it
    std::uint64_t taken = 0;    // GPUs that count as others'
  };
  std::vector<Outside> outside_;
  std::set<NodeId> touched_nodes_;
  JobAlarms limits_;                  // when the time of a job is up, while it runs
  JobAlarms silences_;                // when it should have ended, as its steps tell
  std::map<JobId, JobSpec> shelf_;    // on hold, and the engine has not seen them
  std::map<JobId, std::string> why_;  // words of people, for the row of a job that leaves
  CoreEffects effects_;
  std::string frozen_;
  bool closing_ = false;
  Seconds now_ = 0;
  std::int64_t next_decision_ = 1;
  std::uint32_t newest_ = 0;  // the highest number of a job so far
};

}  // namespace muster
