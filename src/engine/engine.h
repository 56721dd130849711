// The scheduling loop: observe, admit, schedule, place, diff, act; again at the next turn. One
// object per run, no state outside it, so a thousand runs fit into one process.
//
// The engine has no clock and starts nothing by itself. Over a simulated backend, run() takes all
// turns. A service drives it from outside, from one thread:
//
//   const Due due = engine.due();
//   ... wait until due.at, or for news: events, or a job in the source ...
//   if (now >= due.at || (due.or_event && news_is_loud)) {
//     engine.turn_at(now, events);   // news, then one decision; orders go out to the backend
//   } else {
//     engine.apply(now, events);     // news only; due() may be earlier now
//   }
//
// docs/engine.md describes the life of a command, and what every event does in every state.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/accounting.h"
#include "engine/backend.h"
#include "engine/engine_state.h"
#include "engine/orders.h"
#include "engine/pacing.h"
#include "model/prices.h"
#include "model/record.h"
#include "policy/admission.h"
#include "policy/placement.h"
#include "policy/scaling.h"
#include "policy/scheduling.h"
#include "policy/selection.h"
#include "workload/source.h"

namespace muster {

struct EngineWorld;

// The policies that decide together. Several can be given; a selector then picks one from turn to
// turn.
struct PolicySet {
  std::unique_ptr<AdmissionPolicy> admission;
  std::unique_ptr<SchedulingPolicy> scheduling;
  std::unique_ptr<PlacementPolicy> placement;

  PolicySet clone() const { return {admission->clone(), scheduling->clone(), placement->clone()}; }
};

// How long a job whose start failed is kept from starting: twice as long after each failure.
struct RetryRule {
  Seconds first = 10;
  Seconds most = 600;
};

// When the engine wants to be called next.
struct Due {
  Seconds at = kNever;
  bool or_event = false;  // turns follow events: loud news (see loud()) is worth a turn at once
};

struct EngineOptions {
  int max_crashes = 3;  // a job that fails by itself more often than this is given up
  // Ends the run once the jobs first..last (ids, inclusive) have all left; the turn is still
  // completed.
  std::optional<std::pair<JobId, JobId>> until_left;
  Seconds until = kNever;  // no turn later than this
  PreemptionRule preemptions;
  RetryRule retry;
  bool count_host = true;  // CPU cores and memory bind, where jobs ask for them and nodes have them
  bool close_look = false;  // fill in the members of TurnStats that cost a walk over all jobs
  // Approximate look-ahead: running jobs may be displaced only in turns that are at least this
  // fraction of the time since `calm_since` apart. In the turns between (calm turns) free GPUs go
  // to waiting jobs in order. 0: in every turn.
  double calm = 0;
  Seconds calm_since = 0;
};

class Engine final : public WhatIf {
 public:
  struct Parts {
    std::shared_ptr<const ClusterSpec> cluster;
    std::shared_ptr<const PerfModel> perf;
    std::unique_ptr<Pacing> pacing;
    std::vector<PolicySet> policy_sets;        // at least one
    std::size_t active = 0;                    // of these, the one that begins
    std::unique_ptr<Selector> selector;        // needed for more than one
    std::unique_ptr<ScalingPolicy> scaling;    // decides which nodes are powered; null: all are
    std::shared_ptr<const Forecast> forecast;  // of submissions; may be null
    std::shared_ptr<const PriceBook> prices;   // of GPUs; null: nothing is counted
    Backend* backend = nullptr;                // must outlive the engine
    JobSource* source = nullptr;               // must outlive the engine
    std::vector<Observer*> observers;          // must outlive the engine
    std::vector<Symbol> metrics;               // those that policies see: JobMetrics::kMost at most
    std::vector<std::string> metric_names;     // the same as texts, for policies
    EngineOptions options;
  };
  explicit Engine(Parts parts);
  Engine(const Engine&) = delete;  // its draft points into it
  Engine& operator=(const Engine&) = delete;

  // When the next turn is due. A new job in the source is seen by the next apply() or turn_at().
  Due due();
  // Takes in news without deciding. What people ask for takes effect at once.
  void apply(Seconds now, std::span<const JobEvent> events);
  // Takes in news, then decides once; false when the run is over.
  bool turn_at(Seconds now, std::span<const JobEvent> events);
  // Continues from a world that is given: jobs with their accounts, and which of them run where. To
  // be called before the first turn; what policies remembered of the past is lost.
  Status adopt(const EngineWorld& world);
  // What another engine could adopt.
  EngineWorld world() const;

  // Lets the backend pass the time until the next turn, and takes it; false when the run is over.
  bool turn();
  // Turns until the run is over or `keep_going` says no. An error of the source ends it.
  Status run(const std::function<bool()>& keep_going = {});

  Seconds now() const { return state_.now; }
  long long turns() const { return state_.turns; }
  bool idle() const { return state_.jobs.active().empty() && state_.held.empty(); }
  bool over() const { return state_.over; }
  const EngineState& state() const { return state_; }
  const JobTable& jobs() const { return state_.jobs; }
  const ClusterState& cluster() const { return state_.cluster; }
  View view() const;
  // Asks the policies again for their traits, after one was replaced.
  void ask_policies();
  // Whether any policy set could ever place the job, at its smallest size.
  bool ever_fits(const JobSpec& job) const;

  // Jobs that left, for the end condition and progress displays.
  long long left() const { return state_.left; }
  long long arrived() const { return state_.next_id; }

  // Saves the run between two turns, or puts it back into an engine made of the same parts whose
  // source has been taken to where it was: see arrived(). False: one of the parts cannot be saved;
  // unsavable() names it.
  bool checkpoint(Archive& archive);
  std::string unsavable();

  // A copy that goes on from here by itself, between two turns: the same state, clones of the
  // policies with what they remember, and a backend, a source and observers of its own, which must
  // outlive it. It knows no more than is believed.
  struct Fork {
    Backend* backend = nullptr;
    JobSource* source = nullptr;
    std::vector<Observer*> observers = {};
    bool new_backend = false;  // it is not a fork of the engine's, and is told which jobs run where
    std::function<void(Job&)> revise = {};  // for every job of the copy: what is different there
    std::optional<EngineOptions> options = {};  // those of the copy; nothing: the same
    Seconds now =
        -kNever;  // its clock shows at least this: time may have passed since the last news
  };
  std::unique_ptr<Engine> fork(const Fork& with) const;

  Prediction predict(std::size_t policy_set, Seconds horizon) override;
  std::size_t policy_sets() const override { return parts_.policy_sets.size(); }

 private:
  PolicySet& active() { return parts_.policy_sets[state_.active]; }
  const PolicySet& active() const { return parts_.policy_sets[state_.active]; }
  // What a fork is made of, except for the policies.
  Parts fork_parts(const Fork& with) const;
  // A fork's backend learns what is believed of running jobs.
  void tell_beliefs(const Fork& with);

  Slot adopt_job(const Job& given, bool on_hold);
  Status adopt_runs(std::vector<Slot>& running);
  Status adopt_accounts(const EngineWorld& world);

  // Before the first turn: when it comes. False: there is nothing to do.
  bool begin();
  // Lets the backend pass the time until the next turn; what happened is in events_.
  Seconds wait();
  Seconds wait_for_answers();
  bool passes_unheard(Seconds reached);

  // The steps of a turn, in order.
  void take_in(Seconds now, std::span<const JobEvent> events);
  // Jobs that have done all the work they were believed to have are believed to be longer.
  void outgrow_beliefs();
  // After new progress: raises the believed length if the work done exceeds it.
  void note_belief(Slot slot) {
    if (state_.jobs[slot].spec.believed) outgrow_belief(slot);
  }
  void outgrow_belief(Slot slot);
  // Whether a belief about the length of a job matters to a policy.
  bool minds_lengths() const;
  void take_arrivals();
  void admit();
  void choose_policy_set();
  void decide();
  // Asks for a plan of this depth, and for its placement.
  void plan(const SchedulingTraits& traits, Plan::Depth depth);
  // Whether this is a calm turn: running jobs keep their GPUs.
  bool keeps_calm(const SchedulingTraits& traits);
  // Lets a policy with a completion rule say which jobs are over.
  bool complete_jobs();
  void carry_out();
  // Its parts: stops jobs that end up without GPUs and sorts the others, then forms the groups.
  void stop_and_sort();
  void regroup();
  void note_neighbours(Slot slot);
  void count_preemption(Job& job);
  void scale();
  void report_turn(Seconds previous, long long skipped);
  // Dollars for the GPUs that were in use since the turn before; note_use() notes which are now.
  double spend(Seconds previous);
  void note_use();
  int used_opportunistically_alone() const;
  void look_closely(TurnStats& stats) const;
  // Whether jobs wait and nothing that is known to come can change that.
  bool deadlocked();
  // GPUs of the nodes that have not left for good: there will never be more.
  int gpus_to_hope_for() const;
  // When one of the policies wants to be asked again though nothing happened.
  Seconds policy_wake() const;
  void give_up_waiting();
  // `news`: between two turns, when something was taken in; otherwise a turn has just been taken.
  Seconds next_turn(bool news = false);
  void dispatch();

  void on_event(const JobEvent& event);
  // Applies an event of a launch that continues; false: it is another kind of event.
  bool goes_on(const JobEvent& event);
  static void note_progress(Job& job, const JobEvent& event);
  void on_node_event(const JobEvent& event);
  void on_node_down(const JobEvent& event, Reason reason);
  // Events of a launch.
  void on_run_event(Slot slot, const JobEvent& event);
  void on_progress(Slot slot, const JobEvent& event);
  void on_end_of_run(Slot slot, const JobEvent& event);
  // A launch that was told to stop has left: its GPUs are free.
  void on_released(Slot slot, const JobEvent& event);
  void begin_run(Slot slot, const JobEvent& event);
  void end_wait(Job& job, Seconds at);
  static void begin_earlier(Job& job, Seconds at);
  void return_run(Slot slot, const JobEvent& event);
  void finish_stopped(Slot slot, const JobEvent& event);
  // What people ask for.
  void cancel(const JobEvent& event);
  void on_metric(const JobEvent& event);
  void revise(const JobEvent& event);
  void resize_request(Slot slot, int gpus);
  void put_on_hold(Slot slot, bool hold);
  // The slot of the event's job. A job that has left stays in its slot until the slot is reused, so
  // its state is checked.
  Slot slot_of(const JobEvent& event) const {
    if (index(event.slot) >= state_.jobs.slots()) return look_for(event.job);
    const Job& job = state_.jobs[event.slot];
    const bool there = job.running() || job.waiting() || job.state == JobState::kSubmitted;
    return there && job.spec.id == event.job ? event.slot : look_for(event.job);
  }
  Slot look_for(JobId id) const;

  void finish(Slot slot, Seconds end, Seconds done);
  void conclude(const PolicyCompletion& completion);
  void crash(Slot slot, Seconds at);
  // Takes a running job off its GPUs: books its time and leaves it waiting.
  struct HaltHow {
    Seconds at = 0;        // when it lost its GPUs: before this turn if a node failed in between
    bool graceful = true;  // it could save its work
    bool release = false;  // its GPUs still have to be given back to the cluster
    bool update_rates = true;  // those it shared GPUs with change their rate
    bool asks = true;          // the backend is asked what is saved; else `work` is
    double work = 0;
  };
  void halt(Slot slot, Reason reason, JobId other, const HaltHow& how);
  void launch(const PlacementDraft::Step& step, CommandKind kind);
  void update_rate(Slot slot, Seconds at, CommandKind kind = CommandKind::kUpdateRate);
  void update_group_rates(Slot member, Seconds at);
  // `done` counts for the deadline; kNever: as `end`.
  void leave(Slot slot, JobState status, Reason reason, Seconds end, Seconds done = kNever);
  // One that waits outside of the queue, for admission or on hold, and may have run before.
  void leave_held(Slot slot, JobState status, Reason reason);
  void notify(JobMoment moment, Slot slot);
  void settle_held_time(Job& job);
  void give_back(Job& job);
  // Opportunistic jobs on these GPUs change their rate from `at`.
  void update_opportunistic_rates(const GpuSet& gpus, Seconds at);
  // Takes the job out of its group; the others go on without it from `at`.
  void unlink(Slot slot, Seconds at, bool update_rates = true);
  JobProgress command(CommandKind kind, Slot slot, const GpuSet& gpus, const HostResources& host,
                      Seconds at, bool graceful);
  void log(Action action, Reason reason, JobId job, int gpus = 0, JobId other = kNoJob,
           int detail = 0, const GpuSet* gpus_held = nullptr);
  void log_block();
  void end_back_offs();
  bool backs_off(Slot job) const;

  // What a backend that answers later is told when the turn is over.
  void order_launch(const PlacementDraft::Step& step, CommandKind kind);
  void order_stop(Job& job, Reason reason, bool graceful);

  Parts parts_;
  EngineState state_;
  // The traits of the policies, asked once: a turn is shorter than the calls.
  struct Known {
    SchedulingTraits traits;
    bool stable = false;  // plan and placement are both stable between events
    const DeadlineBook* promises = nullptr;
  };
  const Known& known() const { return known_[state_.active]; }
  std::vector<Known> known_;  // of each policy set
  bool minds_lengths_ = false;
  const bool later_;     // the backend answers later
  const bool numbered_;  // the source numbers its jobs
  const Seconds turn_length_;

  // Scratch.
  Plan plan_;
  PlacementDraft draft_;
  TurnOrders orders_;
  std::vector<JobEvent> events_;
  std::vector<JobEvent> quiet_;
  Seconds kept_since_ = kNever;  // when the first event came that is kept for the next turn
  std::vector<PolicyCompletion> completions_;
  std::vector<const JobSpec*> neighbours_;
  // Of the draft that is being carried out.
  std::vector<std::uint32_t> movers_;  // positions of steps
  std::vector<std::uint32_t> starters_;
  std::vector<Slot> regrouped_;      // jobs that may have got other neighbours
  std::vector<std::uint32_t> told_;  // by slot: the turn in which it last got a command
  std::uint32_t turn_mark_ = 0;
  int stops_ = 0;         // in this turn
  bool planned_ = false;  // this turn
  bool calm_ = false;     // likewise
  Seconds calm_until_ = -kNever;
};

}  // namespace muster
