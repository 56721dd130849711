// The common part of the published ElasticFlow schedulers, defects included. Its simulator has no
// workers that report; each scheduler keeps the clock of its jobs, and a job is over when the list
// of events says so. These policies therefore drive completion (SchedulingTraits). They run under
// the pacing `gathered`, on a cluster of equal nodes on which nothing fails.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "artifacts/elasticflow/plans.h"
#include "base/params.h"
#include "policy/scheduling.h"

namespace muster::published {

inline const ParamInfo kAsOf2022{
    "as_of_2022", ParamKind::kFlag, "false",
    "the artifact as it was when its figures were made, before two bug fixes"};

// A job in the books of a published scheduler.
struct Job {
  Slot slot = kNoSlot;
  Seconds submit = 0;
  Seconds duration = 0;  // on the GPUs it asked for
  int request = 0;
  PlannedJob wants;  // what is left, deadline, sizes
  std::shared_ptr<const std::vector<ThroughputCurve::Point>> own_levels;  // if it was not measured
  int gpus = 0;
  GpuTimeline plan;
  Seconds end = 0;
  Seconds old_end = 0;
  Seconds exact_end = 0;
  double overhead = 0;
  double executed = 0;  // seconds, of systems that count these
  bool started = false;
  bool known_range = false;  // its GPUs were in use before

  bool best_effort() const { return wants.deadline == kFarDeadline; }
  double speed() const { return wants.speed(gpus); }
};

enum class Cap { kTuned, kWidest };  // ElasticFlow's own, or as far as the table goes

// What setting a job up on its GPUs costs; more where trainers are restarted.
double overhead_of(int gpus, bool restart, bool known_range, int cluster_gpus);

class Scheduler : public SchedulingPolicy, public CompletionRule {
 public:
  explicit Scheduler(Cap cap) : cap_(cap) {}
  SchedulingTraits traits() const override {
    return {.preemptive = true,
            .stable_between_events = false,
            .work_conserving = false,
            .ends_jobs = true,
            .drives_completion = true,
            .keeps_truth = true,
            .needs_even_nodes = true,
            .reproduces_simulator = true,
            .pacing = "gathered"};
  }
  void on_job(JobMoment moment, Slot slot, const View& view) override;
  CompletionRule* completion_rule() override { return this; }
  void complete_jobs(const View& view, std::vector<PolicyCompletion>& completions) override;
  void schedule(const View& view, Plan& plan) override;

 protected:
  // One round: what has happened since the last one, which jobs are over, which job gets what. The
  // new jobs are in `arrivals_`, in order.
  virtual void round() = 0;

  Job& job(Slot slot) { return jobs_[index(slot)]; }
  const Job& job(Slot slot) const { return jobs_[index(slot)]; }
  void finish(Job& job, Seconds end, Seconds done);
  // It cannot make its deadline.
  void refuse(Job& job);
  void refuse(Job& job, Reason reason);
  // Gives GPUs to a job in this round.
  void run(const Job& job, int gpus) { running_now_.push_back({job.slot, gpus}); }
  PlanFrame frame() const { return {now_, slot_, cluster_gpus_, true, &whole_second_rules()}; }
  // Whether jobs of this size, with others like it, always find GPUs together: parts of a node that
  // divide it, or whole nodes.
  bool packs(int gpus) const;
  // Counts rounds; every so many, trainers are restarted.
  bool restart_due();

  void refuse_odd_sizes();
  // What all of them remember.
  bool checkpoint_books(Archive& archive);

  Cap cap_;
  Seconds now_ = 0;
  Seconds last_ = 0;  // time of the round before
  Seconds slot_ = 60;
  int cluster_gpus_ = 0;
  int nodes_ = 0;
  int node_gpus_ = 0;
  std::vector<Slot> arrivals_;

 private:
  struct Given {
    Slot slot;
    int gpus;
  };
  std::vector<Job> jobs_;  // by slot
  std::vector<Slot> arriving_;
  std::vector<PolicyCompletion> completions_;
  std::vector<Given> running_now_;
  long long rounds_ = 0;
  bool begun_ = false;
};

// Ends to come, and other moments at which a round is due, by time.
class Events {
 public:
  void add_end(const Job& job);
  // Moves the end of a job from `old_end` to `end`, if these differ.
  void move_end(const Job& job);
  void add_moment(Seconds time);
  // Those up to `now` leave the list: the jobs whose ends they are, in order.
  std::vector<Slot> take(Seconds now);
  Seconds first() const { return events_.empty() ? kNever : events_.begin()->first; }
  // The moment of the next round, if no job arrives before.
  Seconds next(Seconds now, Seconds slot) const;
  void checkpoint(Archive& archive);

 private:
  std::map<Seconds, std::vector<Slot>> events_;  // and whose ends they are
};

}  // namespace muster::published
