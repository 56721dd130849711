// Classes of jobs of equal GPU count, each with GPUs and queues of its own.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "base/params.h"
#include "policy/scheduling.h"

namespace muster {

// Source: Tiresias (NSDI'19), multi-dlas-gpu: jobs of equal GPU count form a class with a part of
// the GPUs and two queues by attained GPU-seconds of its own. Every `every` seconds, and whenever a
// job comes or goes, the GPUs are allocated to the classes by demand. What is in use stays.
// Time: O(jobs) for each allocation.
class MultiDlas : public SchedulingPolicy {
 public:
  // The parameters are those of the row `multi-dlas-gpu`.
  explicit MultiDlas(const Params& params);

  SchedulingTraits traits() const override {
    return {.preemptive = true, .stable_between_events = false, .work_conserving = false};
  }
  void on_job(JobMoment moment, Slot slot, const View& view) override;
  void schedule(const View& view, Plan& plan) override;
  // The next allocation, or the next time a running job outgrows the first queue.
  Seconds wake(const View& view) const override;
  bool checkpoint(Archive& archive) override;
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<MultiDlas>(*this);
  }

 protected:
  struct State {
    double executed = 0;
    Seconds last = 0;
    bool runs = false;
  };
  // The demand of a class and of all, in GPUs, and what there is to divide.
  struct Demand {
    int own;
    int all;
    int gpus;
    int each;  // GPUs of each job of the class
  };

  // GPU-seconds after which a job leaves the first queue.
  double limit() const { return limit_; }
  // When a job that runs from now on will have had as much as the first queue allows.
  virtual Seconds outgrows_at(const State& state, int gpus, Seconds now) const;
  // True as soon as the clock cannot tell that time from now: a job that rounding leaves a hair
  // short of the limit has reached it, or the time to come would be now for ever.
  virtual bool outgrown(const State& state, int gpus, Seconds now) const {
    return outgrows_at(state, gpus, now) <= now;
  }
  // The GPUs that the demand of a class entitles it to, down to whole jobs.
  virtual int share(const Demand& demand) const;
  // Whether GPUs are allocated when a job comes or goes, too.
  virtual bool allocates_at_changes() const { return true; }

 private:
  struct Class {
    int gpus = 0;
    int total = 0;
    int free = 0;
    int reserve = 0;
    std::array<std::vector<Slot>, 2> queues;
    int demand() const { return static_cast<int>(queues[0].size() + queues[1].size()) * gpus; }
    int used() const { return total - free; }
  };

  Class& class_of(int gpus);
  void run_classes(const View& view);
  // In order of arrival, jobs that have outgrown the first queue go to the end of the second.
  void demote(Class& at, const View& view);
  // Each class gets its part of the demand, but keeps what it uses; what is left goes round from
  // the smallest jobs to the largest.
  void allocate(int gpus);

  double limit_;
  Seconds every_;
  Seconds next_allocation_;
  Seconds asked_for_ = kNever;  // the next allocation as of the last turn with jobs
  bool came_or_went_ = false;
  std::vector<Class> classes_;  // in order of appearance
  std::vector<State> states_;   // by slot
  std::vector<Slot> moved_;
};

}  // namespace muster
