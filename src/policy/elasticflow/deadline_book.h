// Promises to jobs with deadlines: for each a plan of GPUs that brings it there in time. All plans
// together fit the cluster. A plan is kept until a better one for all is found, so that a
// policy that follows them keeps all promises: plans that are made anew every turn do not, since a
// new plan for one job can be worse for another.
//
// It is what admission control of ElasticFlow rests on (ASPLOS'23): a job is admitted
// if, with all jobs planned anew in order of deadline by progressive filling (each its minimum
// satisfactory share of what those before it leave, policy/elasticflow/planner.h), no job is late.
// We first try to fit the newcomer into what the standing plans leave, O(steps x sizes), and plan
// all n jobs anew only if that fails, n times as much.
//
// Invariants: the plans of all entries and `free` add up to the cluster at every time; every entry
// ends by its deadline.
//
// The policy `elasticflow` keeps the book; the admission `deadline` reads it to answer new jobs.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "policy/elasticflow/candidates.h"

namespace muster {

class DeadlineBook {
 public:
  struct Entry {
    Candidate job;  // as it is at the book's time, if it has followed its plan
    GpuTimeline gpus;
    Seconds end = 0;
  };
  using Key = std::pair<Seconds, JobId>;  // deadline first
  using Entries = std::map<Key, Entry>;

  static Key key_of(const Candidate& job) { return {job.deadline, job.id}; }

  // Changes with every change of the book.
  long long version() const { return version_; }
  const Entries& entries() const { return entries_; }
  const GpuTimeline& free() const { return free_; }
  bool empty() const { return entries_.empty(); }

  // Goes on to `frame.now`: all jobs have followed their plans. Where the cluster has another size
  // than before, all are planned anew; whose promise cannot be kept then is taken out.
  void advance(const PlanFrame& frame);
  void remove(const Key& key);
  // The job has this much left instead of what its plan says. False: the promise cannot be kept,
  // and is taken out.
  bool correct(const PlanFrame& frame, const Key& key, double left);
  // Gives a job another plan, in exchange for its old one; leave() says what all leave then.
  void exchange(const Key& key, GpuTimeline& gpus, Seconds end);
  void leave(GpuTimeline& free);
  void checkpoint(Archive& archive);

 private:
  friend class BookTrial;

  Entries entries_;
  GpuTimeline free_;
  int gpus_ = 0;
  long long version_ = 0;
  JobPlan scratch_;
};

// An attempt to let jobs in, one after the other, that leaves the book as it is until commit().
class BookTrial {
 public:
  BookTrial(const DeadlineBook& book, const PlanFrame& frame);

  // True if the job can be done by its deadline and all promises be kept. New plans for all jobs
  // are looked for only where `anew` is set.
  bool add(const Candidate& job, bool anew = true);
  // Enters what was added.
  void commit(DeadlineBook& book);

  // Whether it still is about this book at this time.
  bool of(const DeadlineBook& book, Seconds now) const {
    return book_ == &book && version_ == book.version() && frame_.now == now;
  }

 private:
  struct Planned {
    const Candidate* job = nullptr;
    double left = 0;
    GpuTimeline gpus;
    Seconds end = 0;
  };
  bool replan(const Candidate& job);
  bool hopeless(const std::vector<Planned>& all, const Candidate& job) const;

  const DeadlineBook* book_;
  long long version_;
  PlanFrame frame_;
  GpuTimeline free_;
  bool resized_;  // the cluster has another size than the plans in the book are made for
  DeadlineBook::Entries newcomers_;
  std::vector<Planned> others_;  // new plans of those in the book; empty: as they are
  JobPlan scratch_;
};

}  // namespace muster
