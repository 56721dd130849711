// Source: Themis (NSDI'20), as a program instead of an auction. Each turn the largest finish-time
// fraction (time in the system over time alone on an equal part of the cluster) is made as small as
// possible, by bisection: O(jobs) for each step. Every job then deserves the least part of the time
// that keeps its fraction there. The job that deserves most for what it has had goes first,
// whatever fits is chosen, and the chosen are placed in order of size. Where several allocations
// are optimal, this is the smallest. `finish-time-fairness` is the one-shot form without the
// program.
#pragma once

#include <memory>
#include <vector>

#include "policy/placement/node_fit.h"
#include "policy/scheduling.h"

namespace muster {

class Themis : public SchedulingPolicy {
 public:
  SchedulingTraits traits() const override {
    return {.needs = kNeeds,
            .preemptive = true,
            .stable_between_events = false,
            .work_conserving = false,
            .ranks_jobs = true};
  }
  void on_job(JobMoment moment, Slot slot, const View& view) override;
  void schedule(const View& view, Plan& plan) override;
  bool checkpoint(Archive& archive) override;
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<Themis>(*this);
  }

 protected:
  // The unit in which the time of a job alone is counted, in seconds.
  virtual double unit_of_time_alone(const View& /*view*/, const Job& /*job*/) const { return 1; }
  // The GPUs of an equal part of the cluster.
  virtual double equal_part(int gpus, double jobs) const { return gpus / jobs; }

 private:
  static constexpr Need kNeeds[] = {{Knowledge::kDuration}};
  struct State {
    double unit = 1;  // of the time alone, in seconds
    double units_left = 0;
    double units_before = -1;    // at the last turn; -1: there was none
    double isolated_before = 1;  // its part of an equal allocation at the last turn
    double isolated = 0;         // units alone, so far
    double attained = 0;         // seconds it held GPUs
    double deserved = 0;         // seconds it should have held them
    double age = 0;
    double work = 0;   // seconds left, alone
    double alone = 0;  // units alone, in all
    double part = 0;   // of the time: what it deserves now
    double value = 0;
    double deficit = 0;
    Seconds last = 0;
    int gpus = 0;
    bool chosen = false;
  };

  template <typename Before>
  void sort_list(Before before);
  void account(const View& view);
  // The part of the time that keeps the fraction at `worst`.
  static double part_at(const State& state, double worst);
  bool feasible(double worst, double gpus) const;
  void deserve(int gpus);
  void rank(Seconds now);

  NodeFit fit_;
  std::vector<Slot> list_;
  std::vector<State> states_;  // by slot
  Seconds last_turn_ = 0;
};

}  // namespace muster
