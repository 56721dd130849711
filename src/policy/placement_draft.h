// A turn's changes while a placement policy writes them: which jobs stop, which start where, which
// are blocked and why.
//
// The cluster is changed as the draft is written, so that GPUs released earlier in the turn can be
// allocated later in it. Jobs change only when the engine carries the draft out: of the steps of
// one job the last counts. Placements that place all jobs again write their changes through
// policy/arrangement.h.
#pragma once

#include <vector>

#include "model/decision.h"
#include "model/plan.h"
#include "policy/host_limit.h"
#include "policy/view.h"

namespace muster {

class PlacementDraft {
 public:
  enum class Kind : std::uint8_t {
    kStop,   // it loses its GPUs
    kStart,  // it gets GPUs
  };
  struct Step {
    Kind kind = Kind::kStop;
    Slot job = kNoSlot;
    Reason reason = Reason::kNone;
    JobId other = kNoJob;
    Slot co_located_with = kNoSlot;  // kStart: shares the GPUs of this job
    GpuSet gpus;                     // kStart
    HostResources host;              // kStart
    bool opportunistic = false;      // kStart: on GPUs that others hold or may take
    bool lifted = false;             // kStart: it was lifted for this, and not preempted
  };
  struct Rehost {
    Slot job;
    HostResources host;
  };
  struct Block {
    AllocationRequest request;
    Reason reason = Reason::kNone;
    int free = 0;
  };

  PlacementDraft(const JobTable& jobs, ClusterState& cluster) : jobs_(&jobs), cluster_(&cluster) {}

  void reset();
  const JobTable& jobs() const { return *jobs_; }
  const ClusterState& cluster() const { return *cluster_; }

  // Whether the job would hold GPUs after the steps so far, and which.
  bool holds(Slot job) const { return holding(job) != nullptr; }
  const GpuSet* holding(Slot job) const;

  // Takes a job's GPUs away; `other` is the job that gets them, if that is the reason.
  void stop(Slot job, Reason reason, JobId other = kNoJob);
  // Takes a running job off its GPUs so that it can go on elsewhere: start() or join() must follow.
  // Unlike a stop this is no preemption.
  void lift(Slot job);
  // Held around the search for GPUs of a request: it sees only those that can have the request's
  // CPU cores and memory beside them.
  HostLimit limit_to_host(const AllocationRequest& request) const;
  // Held around a rule that may not use these GPUs: it does not see them.
  HostLimit keep(std::span<const NodeGpus> gpus) const { return {*cluster_, gpus}; }
  // Gives the request free GPUs; every job of the request must hold none. Unless `given`, the cores
  // and memory that its first job asks for go with them; jobs that share the GPUs share these.
  void start(const AllocationRequest& request, GpuSet gpus, Reason reason,
             const HostResources& given = {});
  // Gives a running job that was taken off its GPUs in this draft back what it held: the same GPUs
  // and what went with them, which must be free.
  void put_back(Slot job, Reason reason);
  // Lets a waiting job share the GPUs of one that holds some; both belong to one partition.
  void join(Slot job, Slot co_located_with, Reason reason);
  // Lets a waiting job use what the holders of these GPUs leave idle, now or later. The GPUs stay
  // free where they are free; no two opportunistic jobs may share one.
  void start_opportunistic(Slot job, GpuSet gpus, Reason reason);
  // Changes the CPU cores and memory beside the GPUs of a job that holds some.
  void rehost(Slot job, const HostResources& host);
  HostResources host_of(Slot job) const;

  // The plan was cut too early: asks for all of it, and to be called again with an empty draft.
  void ask_for_all() { wants_all_ = true; }
  bool wants_all() const { return wants_all_; }

  // The first request that could not be placed. Later ones are behind it and not recorded.
  void block(const AllocationRequest& request, Reason reason);
  // It found a place after all.
  void unblock() { block_ = {}; }

  const std::vector<Step>& steps() const { return steps_; }
  // Whether the step at this position is the last of its job: the one that counts.
  bool is_last(std::size_t step) const {
    return last_step_[index(steps_[step].job)] == static_cast<std::uint32_t>(step);
  }
  int lifted() const { return lifted_; }  // jobs that were lifted and hold nothing so far
  const std::vector<Rehost>& rehosts() const { return rehosts_; }
  int joins() const { return joins_; }  // starts co-located with another job
  const Block* blocked() const { return block_.request.size > 0 ? &block_ : nullptr; }

 private:
  static constexpr std::uint32_t kUntouched = 0xffffffffU;
  static constexpr std::uint32_t kLifted = 0xfffffffeU;
  std::uint32_t last_step(Slot job) const {
    return index(job) < last_step_.size() ? last_step_[index(job)] : kUntouched;
  }
  // Notes that the last thing that happened to the job is this.
  void touch(Slot job, std::uint32_t step) {
    if (last_step_.size() <= index(job)) last_step_.resize(jobs_->slots(), kUntouched);
    std::uint32_t& last = last_step_[index(job)];
    if (last == kUntouched) touched_.push_back(job);
    last = step;
  }
  bool shared_with_others(Slot job) const;
  // The jobs that would hold the GPUs of this one with it after the steps so far, until `visit`
  // says that this is enough.
  template <typename Visit>
  void each_beside(Slot job, const Visit& visit) const;
  // What both ways to GPUs that are free have in common.
  void take_free(Slot job, GpuSet gpus, Reason reason, const HostResources& host);
  // Releases what the job holds, except GPUs that others share.
  void take_off(Slot job);
  Step& add(Kind kind, Slot job, Reason reason);
  // Whether `other`, which was touched, holds the GPUs of `job` since a step of this draft.
  bool started_beside(Slot other, Slot job) const;

  const JobTable* jobs_;
  ClusterState* cluster_;
  std::vector<Step> steps_;
  std::vector<Rehost> rehosts_;
  std::vector<std::uint32_t> last_step_;  // by slot: its latest step, kLifted or kUntouched
  std::vector<Slot> touched_;
  int joins_ = 0;
  int lifted_ = 0;
  Block block_;
  bool wants_all_ = false;
};

}  // namespace muster
