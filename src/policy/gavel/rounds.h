// The round mechanism: turns fractions of time on several GPU types into the jobs that run in the
// next round. One adaptor for every allocator (policy/gavel/allocator.h).
//
// Source: Gavel (OSDI'20), section 5. For each job (or pair) and GPU type it keeps the time spent
// there since the last reset. In each round those run first whose time is furthest below their
// fraction: priority = fraction / (time / time of all on that type). Ties go to the larger deficit,
// which remembers what earlier resets left unpaid, then to the larger fraction, then to the older
// job. A job without a claim may still use GPUs that no job with a claim can use (except under
// allocators that are strict). A job runs on one type in a round.
//
// Where turns follow events, a round lasts `round` seconds. An event within it takes nothing from
// running jobs: they keep their GPUs until it is over, and others get what is free or join them.
// Otherwise a job that has just begun would be the one whose time has grown, each start would be an
// event that undoes it, and no job would make progress.
//
// The allocator is asked again, and the times start anew, when jobs came or left and the reset
// interval has passed; a new job does not have to wait for that.
//
// Invariants: in a round a job runs in at most one entry, alone or in a pair, and no type gives
// more GPUs than it has. Time of a round: O(c + k log c), where c is the number of cells (entries
// by GPU types) and k how many are looked at before nothing is left. Entries are the jobs and, for
// allocators with pairs, all pairs of jobs of equal GPU count, up to n^2 / 2.
#pragma once

#include <memory>
#include <vector>

#include "base/random_python.h"
#include "policy/gavel/allocator.h"
#include "policy/scheduling.h"

namespace muster {

struct RoundOptions {
  Seconds round = 360;  // where turns follow events, and as the time a job begins with
  Seconds reset_interval = 1920;
  std::int64_t seed = 0;
  bool global_queue = false;   // one order over all types instead of type by type
  bool learns = false;         // pairs that have run are known by what they did, not by belief
  Needs needs;                 // of the allocator
  bool optimises = false;      // the allocator solves programs
  std::vector<double> prices;  // dollars per GPU and hour, in the order of the cluster's types
};

class RoundsPolicy : public SchedulingPolicy, public CompletionRule {
 public:
  RoundsPolicy(std::unique_ptr<Allocator> allocator, RoundOptions options);
  RoundsPolicy(const RoundsPolicy& other);
  RoundsPolicy& operator=(const RoundsPolicy&) = delete;
  ~RoundsPolicy() override = default;

  SchedulingTraits traits() const override {
    return {.needs = options_.needs,
            .preemptive = true,
            .stable_between_events = false,
            .work_conserving = false,
            .co_locates = allocator_->traits().pairs,
            .regroups = allocator_->traits().pairs,
            .optimises = options_.optimises,
            .ends_jobs = true,
            .allocates_fractions = true};
  }
  void schedule(const View& view, Plan& plan) override;
  CompletionRule* completion_rule() override { return this; }
  const Allocator* allocator() const override { return allocator_.get(); }
  // A job that no GPU type can run, or has GPUs enough for, is refused as it comes.
  void complete_jobs(const View& view, std::vector<PolicyCompletion>& completions) override;
  void on_job(JobMoment moment, Slot slot, const View& view) override;
  Seconds wake(const View& view) const override;
  bool checkpoint(Archive& archive) override;
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<RoundsPolicy>(*this);
  }

 protected:
  // Where mechanisms of this kind differ.
  // Called before a round is booked.
  virtual void before_round(const View& /*view*/) {}
  // When the last round began.
  virtual Seconds round_start() const { return last_turn_; }
  // The time on each type that a new entry begins with; half a round, so that no quotient is by
  // zero.
  virtual Seconds first_time(bool /*pair*/) const { return options_.round / 2; }
  // Whether a job may run on a type.
  virtual bool may_use(const View& view, const JobSpec& job, Symbol type) const {
    return job.gpus <= view.cluster.ever_for(job.partition, type);
  }
  // Whether the allocator is asked before the reset interval is over, because jobs came or left.
  virtual bool asks_early() const;
  // Called at a reset.
  virtual void before_reset(const View& /*view*/) {}
  // Whether jobs that the allocator has not seen occupy GPUs of a round in which they cannot run.
  virtual bool unseen_take_room() const { return false; }
  // Whether any GPUs will do until the next reset, if the placement could follow no fraction.
  virtual bool takes_any_gpus() const { return true; }

  const RoundOptions& options() const { return options_; }
  // Nothing could run, and nothing will happen any more: the last turn changed nothing.
  bool stalled(const View& view) const { return idle_ && view.now == last_turn_; }

  Seconds last_reset_ = 0;
  Seconds round_end_ = 0;  // of the last round in which something ran

 private:
  // A job or a pair, with its row in the tables below.
  struct Entry {
    JobId first = kNoJob;
    JobId second = kNoJob;  // kNoJob: a single job
    Slot a = kNoSlot;
    Slot b = kNoSlot;
    int gpus = 1;
    bool allocated = false;  // the allocator has seen it
    bool pair() const { return second != kNoJob; }
  };
  struct Cell {
    double rate = 0;  // of the first job; 0 where the entry cannot run
    double second_rate = 0;
    double fraction = 0;
    Seconds time = 0;  // since the last reset
    double deficit = 0;
    double priority = 0;
  };
  // What ran in the present round.
  struct Turn {
    std::size_t entry = 0;
    std::size_t column = 0;
    Seconds end = kNever;  // known once one of its jobs has left
    double left = 0;       // steps of the two jobs at the start of the round; of pairs
    double second_left = 0;
    bool ran = true;
  };

  // Jobs that go on, by name: entries move as jobs leave.
  struct Kept {
    JobId first = kNoJob;
    JobId second = kNoJob;
    std::size_t column = 0;
    bool operator<(const Kept& other) const {
      return first != other.first ? first < other.first : second < other.second;
    }
  };

  // What decides between cells, taken out of the table to be sorted.
  struct Bid {
    double priority = 0;
    double deficit = 0;
    double fraction = 0;
    std::size_t at = 0;        // its place among the cells
    std::size_t sequence = 0;  // types in their order, then the older job
    bool operator<(const Bid& other) const {
      if (priority != other.priority) return priority > other.priority;
      if (deficit != other.deficit) return deficit > other.deficit;
      if (fraction != other.fraction) return fraction > other.fraction;
      return sequence < other.sequence;
    }
  };

  Cell& cell(std::size_t entry, std::size_t column) { return cells_[entry * types_ + column]; }
  void add_bid(std::size_t at) {
    const Cell& one = cells_[at];
    bids_.push_back({one.priority, one.deficit, one.fraction, at, bids_.size()});
  }
  void learn_types(const View& view);
  void learn_prices(const View& view);
  void book_last_round(const View& view);
  // Where an event falls into a round: jobs that run in it. Else a new round begins.
  void keep_round(const View& view);
  // What a pair was believed to do is replaced by what it did.
  void learn_rates(const View& view, const Turn& turn, Seconds spent);
  void remove_gone();
  void add_fresh(const View& view);
  void add_entry(const View& view, Slot a, Slot b);
  bool wants_reset(const View& view) const;
  void reset(const View& view);
  void ask(const View& view);
  void find_claims();
  void set_priorities();
  void choose(const View& view, Plan& plan);
  // Take the jobs that they can, in order of precedence: those that go on, those with a claim on
  // the types from one place of the order to another, and the others.
  void take_kept();
  void take_claims(std::size_t from, std::size_t to);
  void take_others(std::size_t from, std::size_t to);
  void walk(std::size_t from, std::size_t to);
  void take(std::size_t e, std::size_t w);
  void order_types();

  std::unique_ptr<Allocator> allocator_;
  RoundOptions options_;
  PythonRandom shuffler_;
  std::size_t types_ = 0;
  std::vector<Symbol> symbols_;     // by column; columns are the cluster's types from last to first
  std::vector<int> capacity_;       // by column
  std::vector<Seconds> type_time_;  // by column: of all jobs that ran there since the last reset
  std::vector<Entry> entries_;
  std::vector<Cell> cells_;
  std::vector<Turn> round_;
  std::vector<Symbol> owners_;  // users in the order of their first jobs
  std::vector<JobId> gone_;
  std::vector<Slot> fresh_;
  std::vector<char> chosen_;                      // by slot, in this round
  std::vector<int> left_;                         // GPUs, by column
  std::vector<int> usable_;                       // scratch
  std::vector<std::size_t> order_;                // of columns, in this round
  std::vector<Bid> bids_;                         // scratch
  std::vector<Kept> kept_;                        // in this turn
  std::vector<std::vector<std::size_t>> claims_;  // by column: cells with a fraction, in order
  bool claims_stale_ = true;
  std::vector<double> prices_;  // by column, as last seen
  std::size_t unchosen_ = 0;    // jobs that could still be chosen
  AllocationProblem problem_;
  Allocation allocation_;
  Seconds last_turn_ = -1;
  Seconds round_until_ = 0;  // where turns follow events
  bool pending_ = true;      // the allocator should be asked again
  bool idle_ = false;        // no job was to run in the last round
  bool any_gpus_ = false;    // the types of the fractions are beyond the placement
};

}  // namespace muster
