#include "model/cluster_state.h"

#include <algorithm>
#include <cassert>

namespace muster {
namespace {

std::uint64_t full_mask(int gpus) {
  return gpus == kMaxGpusPerNode ? ~std::uint64_t{0} : (std::uint64_t{1} << gpus) - 1;
}

}  // namespace

ClusterState::ClusterState(std::shared_ptr<const ClusterSpec> spec) : spec_(std::move(spec)) {
  nodes_.resize(spec_->nodes.size());
  std::vector<bool> absent(nodes_.size(), false);
  std::vector<bool> seen(nodes_.size(), false);
  for (const NodeChange& change : spec_->schedule) {
    const std::size_t i = index(change.node);
    if (!seen[i]) absent[i] = change.joins;
    seen[i] = true;
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const NodeSpec& node = spec_->nodes[i];
    auto pool = std::find_if(pools_.begin(), pools_.end(), [&node](const Pool& p) {
      return p.partition == node.partition && p.gpu_type == node.gpu_type;
    });
    if (pool == pools_.end()) {
      pool = pools_.emplace(pools_.end());
      pool->partition = node.partition;
      pool->gpu_type = node.gpu_type;
    }
    pool->nodes.push_back(NodeId{static_cast<std::uint32_t>(i)});
    pool->largest = std::max(pool->largest, node.gpus);
    pool->total += node.gpus;
    nodes_[i].pool = PoolId{static_cast<std::uint32_t>(pool - pools_.begin())};
    nodes_[i].up = false;
    nodes_[i].healthy = full_mask(node.gpus);
    nodes_[i].free_cpus = node.cpus;
    nodes_[i].free_memory = node.memory_gb;
  }
  partitioned_ = !spec_->partitions.empty() ||
                 std::any_of(pools_.begin(), pools_.end(),
                             [](const Pool& pool) { return pool.partition != kNoSymbol; });
  for (Pool& pool : pools_) {
    pool.by_free.assign(static_cast<std::size_t>(pool.largest) + 1, NodeSet(nodes_.size()));
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (!absent[i] && !spec_->nodes[i].spare) set_up(NodeId{static_cast<std::uint32_t>(i)}, true);
  }
  for (const PartitionSpec& partition : spec_->partitions) {
    if (partition.quota <= 0) continue;
    if (quota_.size() <= index(partition.name)) quota_.resize(index(partition.name) + 1, -1);
    quota_[index(partition.name)] = partition.quota;
  }
  quota_used_.assign(quota_.size(), 0);
}

std::uint64_t ClusterState::broken_mask(NodeId id) const {
  return full_mask(node(id).gpus) & ~nodes_[index(id)].healthy;
}

bool ClusterState::knows_partition(Symbol partition) const {
  if (partition == kNoSymbol || !partitioned_) return true;
  const auto named = [partition](const PartitionSpec& spec) { return spec.name == partition; };
  const auto owns = [partition](const Pool& pool) { return pool.partition == partition; };
  return std::any_of(pools_.begin(), pools_.end(), owns) ||
         std::any_of(spec_->partitions.begin(), spec_->partitions.end(), named);
}

std::span<const PoolId> ClusterState::find_pools(Symbol partition, Symbol gpu_type) const {
  for (Access& access : access_) {
    if (access.partition != partition || access.gpu_type != gpu_type) continue;
    if (&access != &access_.front()) std::swap(access, access_.front());
    return access_.front().pools;
  }
  // A partition without nodes of its own uses the open ones; a job without a partition uses the
  // open ones too, or all if there are none.
  const auto has_nodes = [this](Symbol name) {
    return std::any_of(pools_.begin(), pools_.end(),
                       [name](const Pool& p) { return p.partition == name; });
  };
  const Symbol home = has_nodes(partition) ? partition : kNoSymbol;
  const bool everywhere = !has_nodes(home);
  std::vector<PoolId> chosen;
  const std::size_t pools = knows_partition(partition) ? pools_.size() : 0;
  for (std::size_t i = 0; i < pools; ++i) {
    if (!everywhere && pools_[i].partition != home) continue;
    if (gpu_type != kNoSymbol && pools_[i].gpu_type != gpu_type) continue;
    chosen.push_back(PoolId{static_cast<std::uint32_t>(i)});
  }
  // A moved vector keeps its elements where they are, so spans given out earlier stay valid.
  return access_.emplace_back(Access{partition, gpu_type, std::move(chosen)}).pools;
}

int ClusterState::ever_for(Symbol partition, Symbol gpu_type) const {
  int sum = 0;
  for (const PoolId id : pools_for(partition, gpu_type)) sum += pool(id).total;
  const std::size_t i = index(partition);
  return i < quota_.size() && quota_[i] >= 0 ? std::min(sum, quota_[i]) : sum;
}

Reason ClusterState::why_never(const JobSpec& job) const {
  // A partition that is simulated alone and has no nodes is not one of the cluster either.
  if (!knows_partition(job.partition) || pools_.empty()) return Reason::kNoPartition;
  if (pools_for(job.partition, job.gpu_type).empty()) return Reason::kNoGpuType;
  return host_ever_fits(job, job.gpus) ? Reason::kNeverFits : Reason::kNotEnoughCpu;
}

void ClusterState::rebucket(NodeId id, std::uint64_t free_now) {
  Node& node = nodes_[index(id)];
  Pool& pool = pools_[index(node.pool)];
  const int before = std::popcount(node.free);
  const int after = std::popcount(free_now);
  node.free = free_now;
  if (before == after) return;
  if (node.up) {
    pool.by_free[static_cast<std::size_t>(before)].erase(id);
    pool.by_free[static_cast<std::size_t>(after)].insert(id);
  }
  pool.free += after - before;
  free_ += after - before;
}

void ClusterState::take(const GpuSet& gpus, Symbol partition, const HostResources& host) {
  for (int i = 0; i < gpus.nodes(); ++i) {
    Node& node = nodes_[index(gpus[i].node)];
    assert((node.free & gpus[i].mask) == gpus[i].mask && "a GPU was given twice");
    node.held |= gpus[i].mask;
    rebucket(gpus[i].node, node.free & ~gpus[i].mask);
    node.free_cpus -= host.cpus_per_gpu * gpus[i].count();
    node.free_memory -= host.memory_per_gpu * gpus[i].count();
  }
  used_ += gpus.gpus();
  if (index(partition) < quota_used_.size()) quota_used_[index(partition)] += gpus.gpus();
}

void ClusterState::release(const GpuSet& gpus, Symbol partition, const HostResources& host) {
  for (int i = 0; i < gpus.nodes(); ++i) {
    Node& node = nodes_[index(gpus[i].node)];
    assert((node.held & gpus[i].mask) == gpus[i].mask && "a GPU was released that no job held");
    if (node.drained) {
      change_usable(gpus[i].node, [&] { node.held &= ~gpus[i].mask; });
    } else {
      node.held &= ~gpus[i].mask;
      if (node.up) rebucket(gpus[i].node, node.free | (gpus[i].mask & node.healthy));
    }
    node.free_cpus += host.cpus_per_gpu * gpus[i].count();
    node.free_memory += host.memory_per_gpu * gpus[i].count();
  }
  used_ -= gpus.gpus();
  if (index(partition) < quota_used_.size()) quota_used_[index(partition)] -= gpus.gpus();
}

void ClusterState::rehost(const GpuSet& gpus, const HostResources& before,
                          const HostResources& after) {
  for (int i = 0; i < gpus.nodes(); ++i) {
    Node& node = nodes_[index(gpus[i].node)];
    node.free_cpus += (before.cpus_per_gpu - after.cpus_per_gpu) * gpus[i].count();
    node.free_memory += (before.memory_per_gpu - after.memory_per_gpu) * gpus[i].count();
  }
}

void ClusterState::set_up(NodeId id, bool up) {
  Node& node = nodes_[index(id)];
  if (node.up == up) return;
  Pool& pool = pools_[index(node.pool)];
  const int before = std::popcount(usable_mask(node));
  if (!up) {
    rebucket(id, 0);
    pool.by_free[0].erase(id);
  }
  node.up = up;
  if (up) {
    pool.by_free[0].insert(id);
    rebucket(id, usable_mask(node) & ~node.held);
  }
  const int delta = std::popcount(usable_mask(node)) - before;
  pool.usable += delta;
  usable_ += delta;
}

template <typename Change>
void ClusterState::change_usable(NodeId id, Change change) {
  Node& node = nodes_[index(id)];
  const int before = std::popcount(usable_mask(node));
  change();
  const int delta = std::popcount(usable_mask(node)) - before;
  if (node.up) rebucket(id, usable_mask(node) & ~node.held);
  pools_[index(node.pool)].usable += delta;
  usable_ += delta;
}

void ClusterState::set_healthy(NodeId id, int gpu, bool healthy) {
  Node& node = nodes_[index(id)];
  const std::uint64_t bit = std::uint64_t{1} << gpu;
  if (((node.healthy & bit) != 0) == healthy) return;
  change_usable(id, [&] { node.healthy ^= bit; });
}

void ClusterState::set_drained(NodeId id, bool drained) {
  change_usable(id, [&] { nodes_[index(id)].drained = drained; });
}

void ClusterState::sort_nodes() {
  free_ = 0;
  usable_ = 0;
  for (Pool& pool : pools_) {
    pool.by_free.assign(static_cast<std::size_t>(pool.largest) + 1, NodeSet(nodes_.size()));
    pool.free = 0;
    pool.usable = 0;
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    Pool& pool = pools_[index(node.pool)];
    const NodeId id{static_cast<std::uint32_t>(i)};
    if (node.up) pool.by_free[static_cast<std::size_t>(free_on(id))].insert(id);
    pool.free += free_on(id);
    pool.usable += usable_on(id);
    free_ += free_on(id);
    usable_ += usable_on(id);
  }
}

}  // namespace muster
