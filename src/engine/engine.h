// The scheduling loop: observe, admit, schedule, place, diff, act; again at the next turn. One
// object per run, no state outside it, so a thousand runs fit into one process.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "engine/accounting.h"
#include "engine/backend.h"
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

class Archive;

// The policies that decide together. Several can be given; a selector then picks one from turn to
// turn.
struct PolicySet {
  std::unique_ptr<AdmissionPolicy> admission;
  std::unique_ptr<SchedulingPolicy> scheduling;
  std::unique_ptr<PlacementPolicy> placement;

  PolicySet clone() const { return {admission->clone(), scheduling->clone(), placement->clone()}; }
};

struct EngineOptions {
  int max_crashes = 3;  // a job that fails by itself more often than this is given up
  // Ends the run once the jobs first..last (ids, inclusive) have all left; the turn is still
  // completed.
  std::optional<std::pair<JobId, JobId>> until_left;
  Seconds until = kNever;  // no turn later than this
  PreemptionRule preemptions;
  bool count_host = true;  // CPU cores and memory bind, where jobs ask for them and nodes have them
  bool close_look = false;  // fill in the members of TurnStats that cost a walk over all jobs
};

class Engine final : public WhatIf {
 public:
  struct Parts {
    std::shared_ptr<const ClusterSpec> cluster;
    std::shared_ptr<const PerfModel> perf;
    std::unique_ptr<Pacing> pacing;
    std::vector<PolicySet> policy_sets;        // at least one
    std::unique_ptr<Selector> selector;        // needed for more than one
    std::unique_ptr<ScalingPolicy> scaling;    // decides which nodes are powered; null: all are
    std::shared_ptr<const Forecast> forecast;  // of submissions; may be null
    std::shared_ptr<const PriceBook> prices;   // of GPUs; null: nothing is counted
    Backend* backend = nullptr;                // must outlive the engine
    JobSource* source = nullptr;               // must outlive the engine
    std::vector<Observer*> observers;          // must outlive the engine
    EngineOptions options;
  };
  explicit Engine(Parts parts);
  Engine(const Engine&) = delete;  // its draft points into it
  Engine& operator=(const Engine&) = delete;

  // Takes one turn of the scheduling loop; false when the run is over.
  bool turn();
  // Turns until the run is over or `keep_going` says no. An error of the source ends it.
  Status run(const std::function<bool()>& keep_going = {});

  Seconds now() const { return now_; }
  long long turns() const { return turns_; }
  bool idle() const { return jobs_.active().empty() && held_.empty(); }
  const JobTable& jobs() const { return jobs_; }
  const ClusterState& cluster() const { return cluster_; }
  View view() const;

  // Jobs that left, for the end condition and progress displays.
  long long left() const { return left_; }
  long long arrived() const { return next_id_; }

  // Saves the run between two turns, or puts it back into an engine made of the same parts whose
  // source has been taken to where it was: see arrived(). False: one of the policies cannot.
  bool checkpoint(Archive& archive);

  Prediction predict(std::size_t policy_set, Seconds horizon) override;
  std::size_t policy_sets() const override { return parts_.policy_sets.size(); }

 private:
  PolicySet& active() { return parts_.policy_sets[active_]; }
  const PolicySet& active() const { return parts_.policy_sets[active_]; }

  void checkpoint_jobs(Archive& archive);
  void checkpoint_cluster(Archive& archive);

  // The steps of a turn, in order.
  void observe(Seconds until);
  void take_arrivals();
  void admit();
  void choose_policy_set();
  void decide();
  // Asks the policies for this much of a plan, and where it goes.
  void plan(const SchedulingTraits& traits, Plan::Depth depth);
  // Lets a policy with a completion rule say which jobs are over.
  bool complete_jobs();
  void carry_out();
  // Its parts: stops those who end up without GPUs and sorts the others, then forms the groups.
  void stop_and_sort();
  void regroup();
  void note_neighbours(Slot slot);
  void count_preemption(Job& job);
  void scale();
  void report_turn(Seconds previous);
  // Dollars for the GPUs that were in use since the turn before; notes which are in use now.
  double spend(Seconds previous);
  int used_opportunistically_alone() const;
  void look_closely(TurnStats& stats) const;
  // Whether jobs wait and nothing that is known to come can change that.
  bool deadlocked();
  // GPUs of the nodes that have not left for good: there will never be more.
  int gpus_to_hope_for() const;
  // When one of the policies wants to be asked again though nothing happened.
  Seconds policy_wake() const;
  void give_up_waiting();
  Seconds next_turn();

  void on_event(const JobEvent& event);
  void on_node_down(const JobEvent& event, Reason reason);
  void finish(Slot slot, Seconds end, Seconds done);
  void conclude(const PolicyCompletion& completion);
  void crash(Slot slot, Seconds at);
  // Takes a running job off its GPUs: books its time and leaves it waiting.
  struct HaltHow {
    Seconds at = 0;        // when it lost its GPUs: before this turn if a node failed in between
    bool graceful = true;  // it could save its work
    bool release = false;  // its GPUs still have to be given back to the cluster
    bool update_rates = true;  // those it shared GPUs with change their rate
  };
  void halt(Slot slot, Reason reason, JobId other, const HaltHow& how);
  void launch(const PlacementDraft::Step& step, CommandKind kind);
  void update_rate(Slot slot, Seconds at);
  void update_group_rates(Slot member, Seconds at);
  // `done` counts for the deadline; kNever: as `end`.
  void leave(Slot slot, JobState status, Reason reason, Seconds end, Seconds done = kNever);
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
  // Neither the plan nor the placement changes its mind without an event.
  bool stable_between_events() const;

  Parts parts_;
  JobTable jobs_;
  ClusterState cluster_;
  Plan plan_;
  PlacementDraft draft_;
  std::vector<Slot> held_;  // waiting for admission, in order of arrival
  std::vector<JobEvent> events_;
  std::vector<PolicyCompletion> completions_;
  std::vector<const JobSpec*> neighbours_;
  // Of the draft that is being carried out.
  std::vector<std::uint32_t> final_step_;  // by slot: the last step of the job
  std::vector<std::uint32_t> movers_;      // positions of steps
  std::vector<std::uint32_t> starters_;
  std::vector<Slot> regrouped_;      // jobs that may have got other neighbours
  std::vector<std::uint32_t> told_;  // by slot: the turn in which it last got a command
  std::uint32_t turn_mark_ = 0;
  std::vector<double> cost_;      // by slot: dollars for what the job held; only with prices
  std::vector<int> used_before_;  // by pool, after the turn before; only with prices
  Decision last_block_;
  Seconds now_ = 0;
  Seconds next_ = 0;
  Seconds wake_ = kNever;  // when a policy wants to be asked again though nothing happened
  std::size_t active_ = 0;
  long long demanded_ = 0;  // GPUs asked for by admitted jobs
  long long turns_ = 0;
  long long left_ = 0;
  long long tracked_left_ = 0;
  std::uint32_t next_id_ = 0;
  std::uint32_t starts_ = 0;
  int running_ = 0;
  int opportunistic_ = 0;  // of those that run
  int stops_ = 0;
  bool planned_ = false;    // this turn
  int stalled_events_ = 0;  // since a job last ran or came
  int stalled_turns_ = 0;
  bool changed_ =
      true;  // something happened that a policy that is stable between events must answer
  bool rescaled_ = false;  // nodes were powered up or down in this turn
  bool started_ = false;   // the first turn has taken place
  bool over_ = false;
};

}  // namespace muster
