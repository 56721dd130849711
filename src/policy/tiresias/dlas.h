// Queues by attained service, as Tiresias has them.
#pragma once

#include <memory>
#include <vector>

#include "base/params.h"
#include "policy/scheduling.h"
#include "policy/tiresias/duration_sample.h"
#include "policy/tiresias/service_queue.h"

namespace muster {

// Source: Tiresias (NSDI'19), as its simulator and Muri's have it. Queues by attained service; a
// job that outgrows its queue goes to the end of the next, at most one step per turn. Within a
// queue those that run stay in front of those that wait; both keep their order. Everyone is tried
// front to back against the free count. `tiresias` is the same idea with first come, first served
// in each queue.
//
// By Gittins index: in each queue those come first who are likeliest to end soon for what they have
// had, judged by a sample of durations.
//
// Packed: there a job takes any GPUs with enough memory left, but every model is said to need all
// of it; here those of equal GPU count share the same GPUs.
class Dlas : public SchedulingPolicy {
 public:
  // The parameters are those of the row `dlas-gpu`.
  explicit Dlas(const Params& params);

  SchedulingTraits traits() const override;
  void on_job(JobMoment moment, Slot slot, const View& view) override;
  void schedule(const View& view, Plan& plan) override;
  // The next time a running job outgrows its queue or a waiting one is let back.
  Seconds wake(const View& view) const override;
  bool checkpoint(Archive& archive) override {
    sample_.checkpoint(archive);
    archive.value(now_);
    archive.each(queues_, [&archive](ServiceQueue& queue) { queue.checkpoint(archive); });
    archive.list(states_);
    archive.list(chosen_);
    archive.list(requests_);
    return true;
  }
  std::unique_ptr<SchedulingPolicy> clone() const override { return std::make_unique<Dlas>(*this); }

 protected:
  struct State {
    JobId job = kNoJob;
    double executed = 0;
    Seconds last = 0;
    Seconds waited = 0;  // since its last promotion, in waits that are over
    Seconds waiting_since = 0;
    std::size_t queue = 0;
    Seconds allowed = 0;  // whole seconds in which it gets what its queue allows
    Seconds submit = 0;
    Symbol partition = kNoSymbol;
    Symbol gpu_type = kNoSymbol;
    double memory = 0;  // MB on each GPU; all of it where it is not known
    int gpus = 0;
  };

  // Service per second on so many GPUs, and the service after which a job leaves a queue.
  double service_rate(int gpus) const { return by_gpus_ ? gpus : 1; }
  double limit(std::size_t queue) const { return limits_[queue]; }
  // When a running job will have the service that its queue allows, in whole seconds of it.
  virtual Seconds outgrows_at(const State& state, Seconds now) const {
    return state.allowed - state.executed + now;
  }
  // The Gittins index of a job that has had so much service: larger goes first in its queue.
  virtual double index_of(double service) const { return sample_.gittins(service); }
  const DurationSample& sample() const { return sample_; }
  // Whether outgrown queues and changes of the Gittins index are followed to the second: a job that
  // is due moves in the same turn.
  virtual bool follows_exactly() const { return true; }

 private:
  struct Ranked {
    double value;
    Seconds submit;
    Slot slot;
  };
  using Waiting = ServiceQueue::Waiting;

  void join(std::size_t queue, Slot slot);
  void leave_queue(Slot slot);
  Seconds promotes_at(const State& state) const;
  bool someone_is_due() const;
  // Books the time since the last turn for the jobs that ran, in order of arrival; a job that has
  // outgrown a queue goes to the next. False if nothing changed.
  bool account();
  // A job that has waited long compared with what it got returns to the first queue, as new.
  void promote(const View& view);
  void allocate(int gpus);
  // Chooses from one queue. What waits is kept by size, so that a long queue of jobs that
  // cannot fit is never walked.
  void walk(ServiceQueue& queue, int& left);
  // All jobs of the queue are in `front` and `tail`, whether they run or not.
  void walk_all(ServiceQueue& queue, int& left);
  // On GPUs that are left.
  void take(Slot slot, State& state, int& left) {
    left -= state.gpus;
    // In place: a whole copy of a request that was just made waits for its parts.
    AllocationRequest& request = requests_.emplace_back();
    request.jobs[0] = slot;
    request.size = 1;
    request.gpus = state.gpus;
    state.last = now_;
    chosen_.push_back(slot);
  }
  // Co-located with jobs whose memory leaves room, where packing is on; else on GPUs that are left.
  bool choose(Slot slot, int& left);
  bool fits_with(const State& state, const AllocationRequest& request) const;

  bool by_gpus_;
  bool by_index_;
  double promote_;
  bool pack_;
  double memory_mb_;
  DurationSample sample_;
  bool learns_;
  Seconds now_ = 0;
  std::vector<double> limits_;
  std::vector<ServiceQueue> queues_;
  std::vector<State> states_;                // by slot
  std::vector<Slot> chosen_;                 // to run
  std::vector<AllocationRequest> requests_;  // the same with jobs that share GPUs
  std::vector<Slot> moved_;
  std::vector<Ranked> ranked_;
  std::vector<Slot> ran_;
  std::vector<Slot> stopped_;
};

}  // namespace muster
