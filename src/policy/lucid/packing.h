// Placement that puts jobs on the GPUs of others where the two do not disturb each other.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/params.h"
#include "policy/placement.h"

namespace muster {

// Lucid's affine-jobpair binder with indolent packing (ASPLOS'23). Two jobs share GPUs when they
// ask for the same number (at most a node's), fit into GPU memory together, are light enough
// neighbours by their sharing scores, and the newcomer is not expected to outlast the holder of the
// GPUs by much. Scores and memory come from the performance model's profiles; a job without a
// profile joins no job, and no job joins it.
//
// Sharing is prescient: it is off while the forecast sees little coming. With sharing on, every
// waiting job is tried; with sharing off, the first that does not fit ends the walk.
//
// A running job is never stopped, so it is meant for policies without preemption; with others, what
// they would stop stays. A job that joined another may be joined later, once it has the GPUs to
// itself.
class PackingPlacement : public PlacementPolicy {
 public:
  // The parameters are those of the row `packing`.
  explicit PackingPlacement(const Params& params);

  void place(const View& view, const SchedulingTraits& traits, const Plan& plan,
             PlacementDraft& draft) override;
  PlacementTraits traits() const override;
  // A full cluster can still start jobs that are co-located with others.
  Plan::Depth depth(const ClusterState&, const SchedulingTraits&) const override {
    return Plan::Depth::kAll;
  }
  // The next time at which the switch turns, if any job waits for it.
  Seconds wake(const View& view) const override;
  bool checkpoint(Archive&) override { return true; }
  std::unique_ptr<PlacementPolicy> clone() const override {
    return std::make_unique<PackingPlacement>(*this);
  }

 protected:
  // Whether others may join a job that has its GPUs to itself.
  virtual bool may_be_joined(const Job& /*job*/) const { return true; }

 private:
  struct Holder {
    int gpus;
    std::uint32_t order;
    Slot slot;
    friend bool operator<(const Holder& a, const Holder& b) {
      return a.gpus != b.gpus ? a.gpus < b.gpus : a.order < b.order;
    }
  };

  Seconds last_check(Seconds now) const;
  bool sharing_at(const View& view, Seconds check) const;
  bool sharing(const View& view) const;
  // Jobs that have their GPUs to themselves, by size, those that started first in front.
  void collect_holders(const View& view);
  bool affine(const View& view, const JobSpec& newcomer, const JobSpec& holder) const;
  bool join(const View& view, const AllocationRequest& request, PlacementDraft& draft);
  bool start(const View& view, const AllocationRequest& request, PlacementDraft& draft);

  int score_limit_;
  int largest_;
  double memory_mb_;
  double outlast_;
  double quiet_;
  int slots_;
  Seconds check_every_;
  std::string share_;
  bool share_first_;
  std::vector<Holder> holders_;
  std::vector<std::pair<const PoolId*, int>> full_;
  std::vector<Symbol> closed_;  // partitions whose walk has ended
};

}  // namespace muster
