#include "policy/placement/node_fit.h"

#include <algorithm>
#include <limits>

namespace muster {
namespace {

double known_or_plenty(double whole, double free) {
  return whole > 0 ? free : std::numeric_limits<double>::infinity();
}

// Parts of a node need not add up to it exactly.
bool has_host(double free, double per_gpu, int gpus) {
  constexpr double kSlack = 1e-9;
  return per_gpu <= 0 || free >= per_gpu * (gpus - kSlack);
}

}  // namespace

bool NodeFit::describes(const ClusterState& cluster) const {
  return nodes_.size() == cluster.node_count() && all_.size() == cluster.pools().size() &&
         std::all_of(nodes_.begin(), nodes_.end(), [&](const Node& node) {
           const NodeSpec& spec = cluster.node(node.id);
           return spec.gpus == node.size && spec.rack == node.rack &&
                  cluster.pool_of(node.id) == node.pool;
         });
}

void NodeFit::describe(const ClusterState& cluster) {
  nodes_.clear();
  switches_.clear();
  all_.clear();
  for (std::size_t i = 0; i < cluster.pools().size(); ++i) {
    all_.push_back(PoolId{static_cast<std::uint32_t>(i)});
  }
  for (std::size_t i = 0; i < cluster.node_count(); ++i) {
    const NodeId id{static_cast<std::uint32_t>(i)};
    nodes_.push_back({id, cluster.pool_of(id), cluster.node(id).rack, cluster.node(id).gpus});
  }
  std::stable_sort(nodes_.begin(), nodes_.end(),
                   [](const Node& a, const Node& b) { return a.rack < b.rack; });
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (i == 0 || nodes_[i].rack != nodes_[i - 1].rack) switches_.push_back({i, i, 0, {}});
    switches_.back().last = i + 1;
    switches_.back().largest = std::max(switches_.back().largest, nodes_[i].size);
  }
}

void NodeFit::reset(const ClusterState& cluster) {
  if (!describes(cluster)) describe(cluster);
  free_ = 0;
  ask_for({});
  for (Node& node : nodes_) {
    // What is released on a drained node is gone, so that no job can be placed there again.
    free_ += node.free = cluster.drained(node.id) ? 0 : cluster.usable_on(node.id);
    const NodeSpec& spec = cluster.node(node.id);
    node.cpus = known_or_plenty(spec.cpus, spec.cpus);
    node.memory = known_or_plenty(spec.memory_gb, spec.memory_gb);
  }
  for (Switch& at : switches_) {
    at.start.assign(static_cast<std::size_t>(at.largest) + 1, at.first);
  }
  refused_ = std::numeric_limits<int>::max();
}

void NodeFit::reset_to_free(const ClusterState& cluster) {
  reset(cluster);
  free_ = 0;
  for (Node& node : nodes_) {
    free_ += node.free = cluster.free_on(node.id);
    const NodeSpec& spec = cluster.node(node.id);
    node.cpus = known_or_plenty(spec.cpus, cluster.free_cpus(node.id));
    node.memory = known_or_plenty(spec.memory_gb, cluster.free_memory(node.id));
  }
}

bool NodeFit::take(int gpus, std::span<const PoolId> pools, std::vector<NodePart>* where) {
  if (gpus > free_) return false;
  const bool any = only_gpus_ && pools.size() == all_.size();
  if (any && gpus >= refused_) return false;
  for (Switch& at : switches_) {
    const bool taken =
        any && gpus <= at.largest ? take_first(at, gpus, where) : take_in(at, gpus, pools, where);
    if (!taken) continue;
    free_ -= gpus;
    return true;
  }
  // What does not fit in one node now fits nowhere, nor does anything larger. Among larger jobs the
  // rest beyond whole nodes decides, so one refusal says nothing about the others.
  int largest = 0;
  for (const Switch& at : switches_) largest = std::max(largest, at.largest);
  if (any && gpus <= largest) refused_ = std::min(refused_, gpus);
  return false;
}

bool NodeFit::has_room(std::size_t node, int gpus, std::span<const PoolId> pools,
                       double memory_gb) const {
  return nodes_[node].free >= gpus && has_host(nodes_[node].cpus, host_.cpus_per_gpu, gpus) &&
         has_host(nodes_[node].memory, host_.memory_per_gpu, gpus) &&
         (memory_ == nullptr || memory_->free_gb[index(nodes_[node].id)] >= memory_gb) &&
         (pools.size() == all_.size() ||
          std::find(pools.begin(), pools.end(), nodes_[node].pool) != pools.end());
}

void NodeFit::give(std::size_t node, int gpus, double memory_gb, std::vector<NodePart>* where) {
  nodes_[node].free -= gpus;
  if (!only_gpus_) {
    nodes_[node].cpus -= host_.cpus_per_gpu * gpus;
    nodes_[node].memory -= host_.memory_per_gpu * gpus;
    if (memory_ != nullptr) memory_->free_gb[index(nodes_[node].id)] -= memory_gb;
  }
  if (where != nullptr) where->push_back({nodes_[node].id, gpus, memory_gb});
}

// On one node, where any will do. Room never comes back, so the search goes on where it last ended.
bool NodeFit::take_first(Switch& at, int gpus, std::vector<NodePart>* where) {
  std::size_t& start = at.start[static_cast<std::size_t>(gpus)];
  while (start < at.last && nodes_[start].free < gpus) ++start;
  if (start == at.last) return false;
  give(start, gpus, 0, where);
  return true;
}

bool NodeFit::take_in(Switch& at, int gpus, std::span<const PoolId> pools,
                      std::vector<NodePart>* where) {
  const bool any = pools.size() == all_.size();
  int size = at.largest;
  if (!any) {
    size = 0;
    for (std::size_t i = at.first; i < at.last; ++i) {
      if (has_room(i, 0, pools, 0)) size = std::max(size, nodes_[i].size);
    }
  }
  if (gpus <= size) {
    const double memory = memory_ == nullptr ? 0 : memory_->on_one_node(gpus);
    std::size_t i = at.first;
    while (i < at.last && !has_room(i, gpus, pools, memory)) ++i;
    if (i == at.last) return false;
    give(i, gpus, memory, where);
    return true;
  }
  if (size == 0) return false;
  const double each = memory_ == nullptr ? 0 : memory_->beside_each_gpu(gpus);
  chosen_.clear();
  int left = gpus;
  for (std::size_t i = at.first; i < at.last && left >= size; ++i) {
    if (!has_room(i, size, pools, each * size)) continue;
    chosen_.push_back(i);
    left -= size;
  }
  if (left >= size) return false;
  if (left > 0) {
    std::size_t rest = at.first;
    while (rest < at.last && (!has_room(rest, left, pools, each * left) ||
                              std::find(chosen_.begin(), chosen_.end(), rest) != chosen_.end())) {
      ++rest;
    }
    if (rest == at.last) return false;
    chosen_.push_back(rest);
  }
  for (const std::size_t i : chosen_) {
    const int part = std::min(size, gpus);
    give(i, part, each * part, where);
    gpus -= part;
  }
  return true;
}

bool NodeFit::ever(const ClusterState& cluster, int gpus, std::span<const PoolId> pools,
                   const HostResources& host) {
  for (const PoolId pool : pools) {
    if (!host.any() && gpus <= cluster.pool(pool).largest) return true;
  }
  NodeFit fit;
  fit.reset(cluster);
  fit.free_ = 0;
  for (Node& node : fit.nodes_) fit.free_ += node.free = node.size;
  fit.ask_for(host);
  return fit.take(gpus, pools);
}

}  // namespace muster
