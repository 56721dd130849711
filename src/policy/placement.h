// Placement: where shares run. Most rules only answer "which free GPUs for this share?"; the walk
// over the plan that decides who stops, who starts and who is skipped is shared, and may be
// replaced.
#pragma once

#include <memory>
#include <optional>

#include "policy/draft.h"
#include "policy/scheduling.h"

namespace muster {

class PlacementPolicy {
 public:
  virtual ~PlacementPolicy() = default;
  // Carries the plan into the draft.
  virtual void place(const View& view, const SchedulingTraits& traits, const Plan& plan,
                     Draft& draft) = 0;
  // Could this share ever be placed on the whole cluster, empty and up? A job for which this is
  // false is refused instead of waiting for ever.
  virtual bool ever_fits(const ClusterState& cluster, const JobSpec& job, int gpus) const;
  // How much of the plan it looks at.
  virtual Plan::Extent extent(const ClusterState& cluster,
                              const SchedulingTraits& traits) const = 0;
  // Whether a waiting share can start only after a job arrives, leaves or a node changes: true for
  // every rule that depends on nothing but free GPUs.
  virtual bool settles() const { return true; }
  // The next time at which the rule changes by itself, where turns follow events.
  virtual Seconds wake(const View&) const { return kNever; }
  virtual std::unique_ptr<PlacementPolicy> clone() const = 0;
};

// Why a share does not fit now, in the words of the log.
Reason why_not_placed(const View& view, const ClusterState& cluster, const Share& share);

// The shared walk. Preemptive plans: take shares in order while their GPUs fit the usable total,
// stop the running rest, then place the chosen. Other plans: place waiting shares in order on free
// GPUs.
class WalkingPlacement : public PlacementPolicy {
 public:
  // With `backfill`, shares behind one that does not fit are tried; without, the walk ends there.
  explicit WalkingPlacement(bool backfill) : backfill_(backfill) {}
  void place(const View& view, const SchedulingTraits& traits, const Plan& plan,
             Draft& draft) override;
  Plan::Extent extent(const ClusterState& cluster, const SchedulingTraits& traits) const override {
    // Partitions do not wait for each other, so one that is blocked does not end the walk.
    const bool one_queue = cluster.pools().size() == 1 && cluster.spec().partitions.empty();
    const bool ends = one_queue && (!backfill_ || traits.strict);
    return ends ? Plan::Extent::kUntilBlocked : Plan::Extent::kUntilFull;
  }

 protected:
  // Finds free GPUs for the share; false if there is no acceptable set now. `gpus` is empty on
  // entry.
  virtual bool find(const View& view, const ClusterState& cluster, const Share& share,
                    GpuSet& gpus) = 0;
  // CPU cores and memory to go with it; none by default.
  virtual HostShare host_for(const View&, const Share&) const { return {}; }

  // Called when find() failed: may take CPU cores or memory from others in the draft. True: try
  // again.
  virtual bool make_room(const View&, const Share&, Draft&) { return false; }

  // Places one share if it can: on GPUs that a member already holds, else on free ones.
  bool try_place(const View& view, const Share& share, Draft& draft, Reason reason);

 private:
  void place_preemptive(const View& view, const Plan& plan, Draft& draft);
  void select(const View& view, const Plan& plan, const Draft& draft);
  // Whether an earlier share is blocked where this one would go, and nobody may overtake.
  bool behind_blocked(const View& view, const ClusterState& cluster, const Share& share) const;
  void close(const View& view, const ClusterState& cluster, const Share& share);

  bool backfill_;
  bool backfill_now_ = true;  // unless the policy is strict
  std::vector<char> closed_;  // by pool: someone is blocked there and nobody may overtake
  std::vector<char> chosen_;  // by position in the plan
  std::vector<char> keeps_;   // by slot: may stay or start
  std::vector<int> budget_;   // by pool
  GpuSet found_;
};

}  // namespace muster
