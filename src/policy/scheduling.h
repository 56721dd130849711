// Scheduling: which jobs should run, in which order of precedence. See docs/policies.md for the
// guide.
#pragma once

#include <algorithm>
#include <memory>
#include <set>
#include <string_view>
#include <vector>

#include "base/archive.h"
#include "base/sorted_blocks.h"
#include "model/decision.h"
#include "model/plan.h"
#include "policy/completion_rule.h"
#include "policy/needs.h"
#include "policy/view.h"

namespace muster {

class Allocator;

// What a scheduling policy declares: what it needs to know, and what it does.
struct SchedulingTraits {
  Needs needs = {};
  // The plan names all jobs that may run: a running job that is not in it, or too far down, loses
  // its GPUs. Otherwise running jobs stay and the plan lists waiting ones only.
  bool preemptive = false;
  // The plan would be the same until a job arrives, leaves or a node changes: quiet turns may be
  // skipped.
  bool stable_between_events = true;
  // No job overtakes: once a request does not fit, those behind it wait too, whatever the placement
  // allows.
  bool strict = false;
  // No GPU idles while a job that would fit waits (given a placement that backfills).
  bool work_conserving = true;
  // Gives elastic jobs other sizes than they asked for, and changes them while they run: such a job
  // need only fit at its least size.
  bool resizes = false;
  // Asks for several jobs on the same GPUs.
  bool co_locates = false;
  // Changes which jobs share GPUs while both run.
  bool regroups = false;
  // May change its mind about running jobs on its own: it is asked at every turn of the pacing,
  // even if no job waits. Policies that are stable between events never need it.
  bool needs_periodic_turns = false;
  // Gives an order of jobs that is finer than that of its requests (Plan::rank).
  bool ranks_jobs = false;
  // Solves a program or searches at each decision, which takes milliseconds or more.
  bool optimises = false;
  // May keep a job that would fit waiting for ever.
  bool strands = false;
  // Ends or refuses jobs itself: it has a completion rule.
  bool ends_jobs = false;
  // Nothing else says when jobs are over: a simulated backend lets them run until its completion
  // rule ends them.
  bool drives_completion = false;
  // Has its own record of true run times.
  bool keeps_truth = false;
  // Its model assumes equal nodes without partitions, which never fail or leave, and jobs that
  // start and stop at once.
  bool needs_even_nodes = false;
  // Repeats one published simulator and nothing else: no cluster and no copy that looks ahead can
  // carry out what it decides, and no selector can take turns with it.
  bool reproduces_simulator = false;
  // Makes promises to jobs with deadlines, in a book that admission policies read.
  bool promises = false;
  // Allocates fractions of time; its allocator computes them.
  bool allocates_fractions = false;
  // Changes speed only: schedule() may be called twice in a turn and says the same again.
  // Placements that seldom need the whole order then ask for its beginning first.
  bool repeats = false;
  // The pacing that it counts on; empty: any.
  std::string_view pacing = {};
};

// kChanged: news of a job: late word of its progress while it waits, or a belief about its length
// that has grown while it runs.
enum class JobMoment { kAdmitted, kStarted, kStopped, kChanged, kLeft };

class SchedulingPolicy {
 public:
  virtual ~SchedulingPolicy() = default;
  // The same for as long as the policy lives: the engine asks once.
  virtual SchedulingTraits traits() const = 0;
  // Adds requests to the empty plan, most deserving first.
  virtual void schedule(const View& view, Plan& plan) = 0;
  // Not null exactly where it declares that it ends jobs.
  virtual CompletionRule* completion_rule() { return nullptr; }
  // For state of one's own, indexed by slot. At kLeft the slot is about to be recycled.
  virtual void on_job(JobMoment, Slot, const View&) {}
  // The next time at which the plan changes by itself, where turns follow events.
  virtual Seconds wake(const View&) const { return kNever; }
  // Not null exactly where it declares that it makes promises.
  virtual const DeadlineBook* promises() const { return nullptr; }
  // Not null exactly where it declares that it allocates fractions of time.
  virtual const Allocator* allocator() const { return nullptr; }
  virtual std::unique_ptr<SchedulingPolicy> clone() const = 0;
  // Writes or reads all that it remembers from one turn to the next (base/archive.h); false: a run
  // with it cannot be saved. One that remembers nothing returns true.
  virtual bool checkpoint(Archive&) { return false; }
};

// A policy that is an order: give each job a key, the smallest runs first, ties go to the older
// job. Preemptive, all jobs at the size they asked for.
//
// Against starvation, a job that has waited `boost_after` seconds in a row goes before all others,
// for good.
class KeyPolicy : public SchedulingPolicy {
 public:
  explicit KeyPolicy(Seconds boost_after = kNever) : boost_after_(boost_after) {}
  SchedulingTraits traits() const override {
    return {.preemptive = true, .stable_between_events = false, .repeats = keys_rest()};
  }
  void schedule(const View& view, Plan& plan) override;
  void on_job(JobMoment moment, Slot slot, const View& view) override;
  // The next job that has waited long enough to go first.
  Seconds wake(const View& view) const override;
  virtual double key(const Job& job, const View& view) const = 0;
  // Changes speed only: true promises that the key of a waiting job stays as it is until the job
  // runs again. Waiting jobs are then kept sorted, and a turn costs what runs, not what waits.
  virtual bool keys_rest() const { return false; }
  // From when on a wait counts for the boost, where that is not its beginning.
  using WaitRule = Seconds (*)(const Job& job, const View& view);
  void count_waits_from(WaitRule rule) { waits_from_ = rule; }

 protected:
  bool boosts() const { return boost_after_ != kNever; }
  // What the order remembers. A policy that remembers nothing else has this for its checkpoint().
  bool checkpoint_order(Archive& archive);

 private:
  struct Entry {
    int rank = 1;  // 0: boosted
    double key = 0;
    JobId id = kNoJob;
    Slot slot = kNoSlot;
    int gpus = 0;
    Symbol gpu_type = kNoSymbol;
    AllocationRequest request() const { return AllocationRequest::alone(slot, gpus, gpu_type); }
    friend bool operator<(const Entry& a, const Entry& b) {
      if (a.rank != b.rank) return a.rank < b.rank;
      return a.key != b.key ? a.key < b.key : a.id < b.id;
    }
  };
  struct Due {
    Seconds time;
    Slot slot;
    friend bool operator<(const Due& a, const Due& b) {
      return a.time != b.time ? a.time < b.time : a.slot < b.slot;
    }
  };
  // What is remembered of a job, by slot.
  struct Memory {
    Entry entry{};
    Seconds boost_at = kNever;
    bool waits = false;
    bool boosted = false;
    std::uint32_t listed = 0;  // where keys rest: the last listing of running jobs with it
  };
  void fill(Entry& entry, Slot slot, const View& view) const;
  void boost_those_due(const View& view);
  void order_running(const View& view);
  void schedule_all(const View& view, Plan& plan);

  Seconds boost_after_;
  WaitRule waits_from_ = nullptr;
  std::vector<Memory> memory_;
  SortedBlocks<Entry> waiting_;  // where keys rest
  std::set<Due> boosts_;         // of waiting jobs that are not boosted yet
  std::vector<Entry> order_;     // where keys rest, running jobs as of the last turn
  std::uint32_t listings_ = 0;
};

// A policy that allocates time: give each job the fraction of time for which it should hold its
// GPUs; the jobs that have had least of theirs run first. A job that got nothing yet is first of
// all.
class FractionPolicy : public KeyPolicy {
 public:
  void schedule(const View& view, Plan& plan) override;
  double key(const Job& job, const View& view) const override;
  // Fills `fraction`, indexed by slot, for every active job; values in [0, 1].
  virtual void allocate(const View& view, std::vector<double>& fraction) = 0;

 private:
  std::vector<double> fraction_;
};

}  // namespace muster
