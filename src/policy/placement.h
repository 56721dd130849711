// Placement: where requests run. Most placements only answer "which free GPUs for this request?";
// the walk over the plan, which decides which jobs stop, start or are skipped, is shared, and may
// be replaced. If a request does not fit, backfill tries those behind it. Requests are gangs: all
// of their GPUs are found in one turn, or they wait.
#pragma once

#include <memory>
#include <optional>

#include "policy/placement_draft.h"
#include "policy/scheduling.h"

namespace muster {

// What a placement policy declares: what it needs to know, and what it does.
struct PlacementTraits {
  Needs needs = {};
  // A waiting request can start only after a job arrives, leaves or a node changes: true for every
  // rule that depends on nothing but free GPUs.
  bool stable_between_events = true;
  // Puts a job on GPUs that another one uses although the plan did not ask for it.
  bool co_locates = false;
  // Keeps jobs waiting for CPU cores or memory, also where the cluster does not count these.
  bool counts_host = false;
  // May never find a place for a job that would fit on the free GPUs.
  bool strands = false;
};

class PlacementPolicy {
 public:
  virtual ~PlacementPolicy() = default;
  virtual PlacementTraits traits() const { return {}; }
  // Carries the plan into the draft.
  virtual void place(const View& view, const SchedulingTraits& traits, const Plan& plan,
                     PlacementDraft& draft) = 0;
  // Could this request ever be placed on the whole cluster, empty and up? A job for which this is
  // false is refused instead of waiting for ever.
  virtual bool ever_fits(const ClusterState& cluster, const JobSpec& job, int gpus) const;
  // How much of the plan it looks at.
  virtual Plan::Depth depth(const ClusterState& cluster, const SchedulingTraits& traits) const = 0;
  // The next time at which the rule changes by itself, where turns follow events.
  virtual Seconds wake(const View&) const { return kNever; }
  virtual std::unique_ptr<PlacementPolicy> clone() const = 0;
  // Writes or reads all that it remembers from one turn to the next (base/archive.h); false: a run
  // with it cannot be saved. One that remembers nothing returns true.
  virtual bool checkpoint(Archive&) { return false; }
};

// Why a request does not fit now, in the words of the log.
Reason why_not_placed(const View& view, const ClusterState& cluster,
                      const AllocationRequest& request);

// The type of GPU a request must be on: its own type, else what its job requires; kNoSymbol: any.
Symbol type_of(const View& view, const AllocationRequest& request);
// The pools it may be placed in.
std::span<const PoolId> pools_of(const View& view, const ClusterState& cluster,
                                 const AllocationRequest& request);

// The shared walk. Preemptive plans: take requests in order while their GPUs fit what is usable,
// stop the other running jobs and those that change size or co-located jobs, then place the chosen;
// what no chosen request could use goes to the others in order. Other plans: place waiting requests
// in order on free GPUs.
class WalkingPlacement : public PlacementPolicy {
 public:
  // With `backfill`, requests behind one that does not fit are tried; without, the walk ends there.
  // `any_shape` promises that find() never refuses where enough GPUs are free; then plans need not
  // list those for which none would be left.
  explicit WalkingPlacement(bool backfill, bool any_shape = false)
      : backfill_(backfill), any_shape_(any_shape) {}
  void place(const View& view, const SchedulingTraits& traits, const Plan& plan,
             PlacementDraft& draft) override;
  Plan::Depth depth(const ClusterState& cluster, const SchedulingTraits& traits) const override;

 protected:
  // Finds free GPUs for the request; false if there is no acceptable set now. `gpus` is empty on
  // entry.
  virtual bool find(const View& view, const ClusterState& cluster, const AllocationRequest& request,
                    GpuSet& gpus) = 0;
  // Whether the rule says itself how many CPU cores and how much memory go with the GPUs. For all
  // others, what a job asks for binds the search.
  virtual bool chooses_host() const { return false; }
  // CPU cores and memory to go with it; those it asks for by default.
  virtual HostResources host_for(const View&, const AllocationRequest&) const { return {}; }

  // Called when find() failed: may take CPU cores or memory from others in the draft. True: try
  // again.
  virtual bool make_room(const View&, const AllocationRequest&, PlacementDraft&) { return false; }

  // Places one request if it can: on GPUs that a member already holds, else on free ones.
  bool try_place(const View& view, const AllocationRequest& request, PlacementDraft& draft,
                 Reason reason);

 private:
  void place_preemptive(const View& view, const SchedulingTraits& traits, const Plan& plan,
                        PlacementDraft& draft);
  void select(const View& view, const Plan& plan, const PlacementDraft& draft);
  // What no chosen request could use goes to the others, in order.
  void place_leftovers(const View& view, const SchedulingTraits& traits,
                       const std::vector<AllocationRequest>& requests, PlacementDraft& draft);
  // Stops the members that cannot stay, and jobs of other requests on their GPUs.
  void make_way(const View& view, const AllocationRequest& request, PlacementDraft& draft);
  // The member on whose GPUs the request can stay; kNoSlot if it needs others.
  Slot holder_among(const View& view, const AllocationRequest& request,
                    const PlacementDraft& draft) const;
  // Lets a job that was stopped in this very draft have its old GPUs again, if no other job took
  // them.
  bool put_back(const View& view, Slot job, PlacementDraft& draft, Reason reason);
  // Whether an earlier request is blocked where this one would go, and overtaking is not allowed.
  bool behind_blocked(const View& view, const ClusterState& cluster,
                      const AllocationRequest& request) const;
  void close(const View& view, const ClusterState& cluster, const AllocationRequest& request);

  bool backfill_;
  bool any_shape_;
  bool backfill_now_ = true;  // unless the policy is strict
  std::vector<char> closed_;  // by pool: a request is blocked there and overtaking is not allowed
  std::vector<Symbol> closed_quotas_;  // partitions where a request waits for the quota
  std::vector<char> chosen_;           // by position in the plan
  std::vector<char> keeps_;            // by slot: may stay or start
  std::vector<int> budget_;            // by pool
  std::vector<std::pair<Symbol, int>> quota_budget_;
  GpuSet found_;
};

}  // namespace muster
