// Placement that fills the cluster anew every turn.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "policy/arrangement.h"
#include "policy/placement.h"
#include "policy/placement/node_fit.h"

namespace muster {

// Source: Tiresias (NSDI'19) and Muri (SIGCOMM'22). Every turn the cluster is filled anew in the
// order of the plan, by the rule of NodeFit; a request that does not fit is passed over. Jobs whose
// nodes come out the same keep their GPUs.
class Yarn : public PlacementPolicy {
 public:
  void place(const View& view, const SchedulingTraits& traits, const Plan& plan,
             PlacementDraft& draft) override;
  bool ever_fits(const ClusterState& cluster, const JobSpec& job, int gpus) const override;
  Plan::Depth depth(const ClusterState& cluster, const SchedulingTraits& traits) const override;
  bool checkpoint(Archive&) override { return true; }
  std::unique_ptr<PlacementPolicy> clone() const override { return std::make_unique<Yarn>(*this); }

 protected:
  // For rules that also count memory: what is free of it as the cluster is filled anew, and what
  // jobs take; null: it is plentiful.
  virtual NodeMemory* memory(const View& /*view*/) { return nullptr; }
  // The request was given these parts of nodes.
  virtual void gave(const View& /*view*/, const AllocationRequest& /*request*/,
                    std::span<const NodePart> /*parts*/) {}

 private:
  struct Target {
    const AllocationRequest* request = nullptr;
    std::size_t first = 0;  // its parts
    std::size_t last = 0;
    bool overtakes = false;  // a request before it found no room
    Slot holder = kNoSlot;   // a member whose GPUs are on the right nodes
    GpuSet fresh;
  };

  // Chooses which requests run, in plan order, and their GPUs by node. A job that already holds
  // GPUs there keeps them.
  void choose(const View& view, const Plan& plan, PlacementDraft& draft);
  // Under a plan that does not preempt, running jobs stay where they are.
  void place_waiting(const View& view, const SchedulingTraits& traits, const Plan& plan,
                     PlacementDraft& draft);
  // What the partition of the request may still get, of the whole cluster.
  int& quota_left(const View& view, const AllocationRequest& request);
  // A member of the request whose GPUs are on the right nodes, if there is one: they are its own.
  Slot claim_held(const View& view, const AllocationRequest& request,
                  std::span<const NodePart> parts);
  void claim_new(const View& view, Target& target);

  NodeFit fit_;
  std::vector<std::uint64_t> claimed_;          // by node
  std::vector<std::pair<Symbol, int>> quotas_;  // by partition
  std::vector<NodePart> parts_;
  std::vector<Target> targets_;
  Arrangement arrangement_;
};

}  // namespace muster
