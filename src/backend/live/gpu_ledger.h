// Which run is physically on which GPU, and which run gets it next.
//
// The engine reassigns GPUs the moment it decides, but the run that had them needs time to save its
// work and leave. The ledger keeps track of both. A decision is a promise; it is granted when all
// runs that have to leave have left. A GPU has one holder, or several if all of them declared that
// they share. Promises for the same GPU are granted in the order in which they were made, unless
// both share.
//
// For executors that choose GPU indexes themselves (Slurm) the indexes are only names. A promise
// then sometimes waits longer than needed for the run that was decided to leave, but never too
// short.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "base/result.h"
#include "model/gpu_set.h"
#include "model/run_id.h"

namespace muster {

enum class Sharing : std::uint8_t {
  kExclusive,
  kShared,  // co-located with other runs that are shared, too
};

class GpuLedger {
 public:
  // A node that is there already may grow, never shrink: its runs may hold the GPUs.
  void add_node(NodeId node, int gpus);

  // Queues the run for these GPUs. It waits for all launches that hold them now and either do not
  // share or have been told to leave, and for earlier promises that do not share.
  Status promise(RunId run, const GpuSet& gpus, Sharing sharing);

  // A job was co-located with the launches that hold or were promised these GPUs: they share them
  // from now on, except for those that leave. Returns the runs that this changes, in order.
  std::vector<RunId> join(const GpuSet& gpus);

  // The promises that can be carried out now, in order; these runs hold their GPUs from here on.
  std::vector<RunId> grant();

  // The run has been told to stop: from now on promises wait for it, even those that share.
  void leave(RunId run);

  // Nothing of the run is left on its GPUs; or its promise is withdrawn. Unknown runs are ignored:
  // a release may be reported twice.
  void release(RunId run);

  // A run that was found on GPUs, whatever was promised: facts are not refused. Returns the runs
  // that hold some of its GPUs and should not, in order; empty if all is well. A GPU outside its
  // node is an error.
  Result<std::vector<RunId>> seize(RunId run, const GpuSet& gpus, Sharing sharing);

  bool knows(RunId run) const { return entries_.contains(run); }
  bool holds(RunId run) const;
  // The launches that are physically on a GPU, in the order in which they came.
  std::span<const RunId> holders(NodeId node, int gpu) const;
  // Runs whose promise is not granted yet, in no particular order of time.
  std::size_t waiting() const { return waiting_; }

 private:
  struct Entry {
    GpuSet gpus;
    Sharing sharing = Sharing::kExclusive;
    std::uint64_t order = 0;
    bool held = false;
    bool leaving = false;
  };
  struct Cell {
    std::vector<RunId> holders;
    std::vector<RunId> queue;  // promises, in order
  };

  template <typename Visit>
  void each_cell(const GpuSet& gpus, Visit visit);
  Status check(RunId run, const GpuSet& gpus) const;
  bool can_begin(RunId run, const Entry& entry);
  void hold(RunId run, Entry& entry);

  std::map<RunId, Entry> entries_;
  std::vector<std::vector<Cell>> nodes_;             // [node][gpu]
  std::set<std::pair<std::uint64_t, RunId>> check_;  // promises to look at in the next grant
  std::uint64_t next_order_ = 0;
  std::size_t waiting_ = 0;
};

}  // namespace muster
