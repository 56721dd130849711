// The preemptive walk of Lucid's and Helios' simulators: waiting and running jobs in one order,
// each gets GPUs while the cluster's count lasts, jobs behind wait. It differs from an order
// by key in its ties: jobs of equal rank keep the order in which they began to wait or to run.
// It is not wanted for itself: a job that was counted but found no place keeps GPUs idle.
#pragma once

#include <vector>

#include "policy/scheduling.h"

namespace muster {

class QuotaPolicy : public SchedulingPolicy {
 public:
  SchedulingTraits traits() const override { return {.preemptive = true}; }
  void schedule(const View& view, Plan& plan) override;
  void on_job(JobMoment moment, Slot slot, const View& view) override;

 protected:
  struct Candidate {
    double rank = 0;        // smaller runs first
    int group = 0;          // among equal ranks: waiting before running, or the other way round
    std::uint64_t age = 0;  // among equals: the job that began to wait or to run first
    Slot slot{};
  };
  // Ranks a job; `group` and `age` are filled by the walk.
  virtual double rank(const Job& job, const View& view) const = 0;
  virtual bool waiting_first() const = 0;
  // Waiting jobs that were given GPUs by count in the last walk; some may not have found a place.
  const std::vector<Slot>& granted() const { return granted_; }

  // What it remembers of waiting jobs.
  bool checkpoint_waits(Archive& archive) {
    archive.list(waiting_since_);
    archive.list(if_stopped_);
    archive.value(next_);
    return true;
  }

 private:
  std::vector<Candidate> order_;
  std::vector<Slot> granted_;
  std::vector<std::uint64_t> waiting_since_;  // by slot: a number that grows
  std::vector<std::uint64_t> if_stopped_;     // by slot: that number, should this walk stop the job
  std::uint64_t next_ = 0;
};

}  // namespace muster
