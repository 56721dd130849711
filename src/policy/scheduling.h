// Scheduling: which jobs should run, in which order of precedence. See docs/policies.md for the
// guide.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "model/share.h"
#include "policy/view.h"

namespace muster {

struct SchedulingTraits {
  // The plan names everyone who may run: a running job that is not in it, or too far down, loses
  // its GPUs. Otherwise running jobs stay and the plan lists waiting ones only.
  bool preemptive = false;
  // The plan would be the same until a job arrives, leaves or a node changes: quiet turns may be
  // skipped.
  bool settles = true;
  // Nobody overtakes: once a share does not fit, those behind it wait too, whatever the placement allows.
  bool strict = false;
  // No GPU idles while a job that would fit waits (given a placement that backfills).
  bool work_conserving = true;
  // Reads the true duration of jobs.
  bool clairvoyant = false;
};

enum class JobMoment { kAdmitted, kStarted, kStopped, kLeft };

class SchedulingPolicy {
 public:
  virtual ~SchedulingPolicy() = default;
  virtual SchedulingTraits traits() const = 0;
  // Adds shares to the empty plan, most deserving first.
  virtual void schedule(const View& view, Plan& plan) = 0;
  // For state of one's own, indexed by slot. At kLeft the slot is about to be recycled.
  virtual void on_job(JobMoment, Slot, const View&) {}
  // The next time at which the plan changes by itself, where turns follow events.
  virtual Seconds wake(const View&) const { return kNever; }
  virtual std::unique_ptr<SchedulingPolicy> clone() const = 0;
};

// A policy that is an order: give each job a key, the smallest runs first, ties go to the older
// job. Preemptive, all jobs at the size they asked for.
//
// Against starvation, a job that has waited `boost_after` seconds in a row goes before all others,
// for good. In fixed rounds the round in which a job was stopped does not count as waiting.
class KeyPolicy : public SchedulingPolicy {
 public:
  explicit KeyPolicy(Seconds boost_after = kNever) : boost_after_(boost_after) {}
  SchedulingTraits traits() const override { return {.preemptive = true, .settles = false}; }
  void schedule(const View& view, Plan& plan) override;
  void on_job(JobMoment moment, Slot slot, const View& view) override;
  virtual double key(const Job& job, const View& view) const = 0;

 protected:
  bool boosts() const { return boost_after_ != kNever; }

 private:
  struct Entry {
    double key;
    JobId id;
    Slot slot;
    int gpus;
    Symbol gpu_type;
  };
  bool boosted(Slot slot, const Job& job, const View& view);

  Seconds boost_after_;
  std::vector<char> boosted_;  // by slot
  std::vector<Entry> order_;   // kept between turns for its memory
};

// A policy that divides time: give each job the fraction of time for which it should hold its GPUs;
// the jobs that have had least of theirs run first. A job that got nothing yet is first of all.
class FractionPolicy : public KeyPolicy {
 public:
  void schedule(const View& view, Plan& plan) override;
  double key(const Job& job, const View& view) const override;
  // Fills `fraction`, indexed by slot, for every active job; values in [0, 1].
  virtual void divide(const View& view, std::vector<double>& fraction) = 0;

 private:
  std::vector<double> fraction_;
};

}  // namespace muster
