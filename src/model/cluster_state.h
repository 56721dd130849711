// Which GPUs are free, kept up to date by take and release and never recomputed.
//
// Nodes of one GPU type in one partition form a pool. Each pool keeps its nodes in buckets by free
// count, so that "the lowest node with exactly k free" costs a few instructions at any cluster
// size. Plain value: copying it is how a what-if forks the cluster.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "model/cluster_spec.h"
#include "model/decision.h"
#include "model/gpu_set.h"
#include "model/job_spec.h"
#include "model/node_set.h"

namespace muster {

struct Pool {
  Symbol partition = kNoSymbol;
  Symbol gpu_type = kNoSymbol;
  std::vector<NodeId> nodes;     // ascending
  std::vector<NodeSet> by_free;  // [k]: nodes that are up with exactly k free GPUs
  int largest = 0;               // GPUs of its largest node
  int total = 0;                 // GPUs by specification
  int usable = 0;                // GPUs of nodes that are up
  int free = 0;
};

class Archive;

class ClusterState {
 public:
  explicit ClusterState(std::shared_ptr<const ClusterSpec> spec);

  const ClusterSpec& spec() const { return *spec_; }
  const NodeSpec& node(NodeId id) const { return spec_->nodes[index(id)]; }
  std::size_t node_count() const { return nodes_.size(); }
  bool up(NodeId id) const { return nodes_[index(id)].up; }
  bool drained(NodeId id) const { return nodes_[index(id)].drained; }
  std::uint64_t free_mask(NodeId id) const { return nodes_[index(id)].free; }
  // GPUs of a node that is up, free or held; of a drained node, those that are held.
  std::uint64_t healthy_mask(NodeId id) const { return usable_mask(nodes_[index(id)]); }
  std::uint64_t broken_mask(NodeId id) const;
  int free_on(NodeId id) const { return std::popcount(nodes_[index(id)].free); }
  // GPUs of the node that can be used at all: zero while it is down.
  int usable_on(NodeId id) const { return std::popcount(usable_mask(nodes_[index(id)])); }
  double free_cpus(NodeId id) const { return nodes_[index(id)].free_cpus; }
  double free_memory(NodeId id) const { return nodes_[index(id)].free_memory; }

  int free_gpus() const { return free_; }
  int usable_gpus() const { return usable_; }
  int used_gpus() const { return used_; }

  std::span<const Pool> pools() const { return pools_; }
  // One kind of node, and no quota that could bind before the GPUs are used up.
  bool one_queue() const { return pools_.size() == 1 && quota_.empty(); }
  const Pool& pool(PoolId id) const { return pools_[index(id)]; }
  PoolId pool_of(NodeId id) const { return nodes_[index(id)].pool; }
  // Whether a job of this partition can run here. Where no partition is named at all, those of the
  // jobs do not matter.
  bool knows_partition(Symbol partition) const;
  // Pools that a job of this partition and type may use, in order; none if the partition is not
  // known.
  std::span<const PoolId> pools_for(Symbol partition, Symbol gpu_type) const {
    // The last lookup is usually repeated, so it is checked first.
    if (!partitioned_) partition = kNoSymbol;
    const bool again = !access_.empty() && access_.front().partition == partition &&
                       access_.front().gpu_type == gpu_type;
    return again ? access_.front().pools : find_pools(partition, gpu_type);
  }
  // GPUs free now in those pools, bounded by what the quota leaves.
  int free_for(Symbol partition, Symbol gpu_type) const {
    int sum = 0;
    for (const PoolId id : pools_for(partition, gpu_type)) sum += pool(id).free;
    return std::min(sum, quota_left(partition));
  }
  // GPUs that will at most ever be there for such a job, whatever is up now.
  int ever_for(Symbol partition, Symbol gpu_type) const;
  // Why a job that cannot have its GPUs on the whole cluster, empty and up, will never run.
  Reason why_never(const JobSpec& job) const;

  // CPU cores and memory bind where jobs ask for them and nodes say what they have. Off, as it is
  // at first: requests for them are ignored.
  void count_host(bool counts);
  bool counts_host() const { return counts_host_; }
  // Call for each new job: host_binds() is true from the first job that asks for cores or memory.
  void expect(const JobSpec& job) { host_binds_ = host_binds_ || host_wanted(job).any(); }
  bool host_binds() const { return host_binds_; }
  // What a job asks for beside each of its GPUs; nothing where that is not counted.
  HostResources host_wanted(const JobSpec& job) const;
  // How many of the node's free GPUs can have these beside them, and how many of all its GPUs.
  int host_room(NodeId id, const HostResources& host) const;
  int host_room_ever(NodeId id, const HostResources& host) const;
  bool host_fits(const GpuSet& gpus, const HostResources& host) const;
  // Whether so many GPUs could ever have what the job asks for beside them.
  bool host_ever_fits(const JobSpec& job, int gpus) const;
  // Hides free GPUs from placements that look for some, and shows them again (policy/host_limit.h).
  void withhold(NodeId id, std::uint64_t gpus) { rebucket(id, nodes_[index(id)].free & ~gpus); }
  void show(NodeId id, std::uint64_t gpus) { rebucket(id, nodes_[index(id)].free | gpus); }

  // What the partition's quota still allows; a very large number where there is none.
  int quota_left(Symbol partition) const {
    constexpr int kUnbounded = std::numeric_limits<int>::max() / 2;
    const std::size_t i = index(partition);
    return i < quota_.size() && quota_[i] >= 0 ? quota_[i] - quota_used_[i] : kUnbounded;
  }

  void take(const GpuSet& gpus, Symbol partition, const HostResources& host = {});
  void release(const GpuSet& gpus, Symbol partition, const HostResources& host = {});

  // Changes the CPU cores and memory beside GPUs that are held already.
  void rehost(const GpuSet& gpus, const HostResources& before, const HostResources& after);

  // A node that goes down keeps no free GPUs; jobs that hold some must release them too.
  void set_up(NodeId id, bool up);
  void set_healthy(NodeId id, int gpu, bool healthy);
  // A drained node takes nothing new: what is held there stays held, and is gone once released.
  void set_drained(NodeId id, bool drained);

 private:
  struct Node {
    std::uint64_t free = 0;     // healthy, up, and not held
    std::uint64_t held = 0;     // by an allocation
    std::uint64_t healthy = 0;  // not broken
    double free_cpus = 0;
    double free_memory = 0;
    PoolId pool{};
    bool up = true;
    bool drained = false;
  };
  friend void checkpoint(Archive& archive, ClusterState& cluster);

  static std::uint64_t usable_mask(const Node& node) {
    if (!node.up) return 0;
    return node.drained ? node.healthy & node.held : node.healthy;
  }
  std::span<const PoolId> find_pools(Symbol partition, Symbol gpu_type) const;
  void rebucket(NodeId id, std::uint64_t free_now);
  // Counts what is usable anew after `change`, which makes more or less of it so.
  template <typename Change>
  void change_usable(NodeId id, Change change);
  // Puts all nodes into the buckets of their pools, and adds up what is free and usable.
  void sort_nodes();

  std::shared_ptr<const ClusterSpec> spec_;
  std::vector<Node> nodes_;
  std::vector<Pool> pools_;
  std::vector<int> quota_;       // by symbol; -1: no quota
  std::vector<int> quota_used_;  // by symbol
  struct Access {
    Symbol partition;
    Symbol gpu_type;
    std::vector<PoolId> pools;
  };
  mutable std::vector<Access> access_;  // filled on demand; few combinations ever occur
  bool partitioned_ = false;            // some partition is named
  int free_ = 0;
  int usable_ = 0;
  int used_ = 0;
  bool counts_host_ = false;
  bool host_binds_ = false;
};

}  // namespace muster
