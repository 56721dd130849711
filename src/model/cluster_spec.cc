#include "model/cluster_spec.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "model/gpu_set.h"

namespace muster {

Status validate(const ClusterSpec& cluster) {
  if (cluster.nodes.empty()) return Error{"the cluster has no GPUs: no job could ever run"};
  for (std::size_t i = 0; i < cluster.nodes.size(); ++i) {
    const NodeSpec& node = cluster.nodes[i];
    if (node.gpus < 1 || node.gpus > kMaxGpusPerNode) {
      return Error{fmt::format("node {} has {} GPUs, but a node has 1 to {}", i, node.gpus,
                               kMaxGpusPerNode)};
    }
    // Written so that NaN fails too.
    if (!(node.cpus >= 0) || !(node.memory_gb >= 0)) {
      return Error{
          fmt::format("node {} has {} CPUs and {} GB of memory, but neither can be negative", i,
                      node.cpus, node.memory_gb)};
    }
    if (node.rack < 0) {
      return Error{fmt::format("node {} is in rack {}, but racks count from 0", i, node.rack)};
    }
  }
  std::set<Symbol> names;
  for (std::size_t i = 0; i < cluster.partitions.size(); ++i) {
    const PartitionSpec& partition = cluster.partitions[i];
    if (partition.name == kNoSymbol) return Error{fmt::format("partition {} has no name", i)};
    if (partition.quota < 0) {
      return Error{fmt::format(
          "partition {} has a quota of {} GPUs, but a quota is at least 1, or 0 for none", i,
          partition.quota)};
    }
    if (!names.insert(partition.name).second) {
      return Error{fmt::format("partition {} has the name of an earlier one", i)};
    }
  }
  Seconds last = 0;
  for (std::size_t i = 0; i < cluster.schedule.size(); ++i) {
    const NodeChange& change = cluster.schedule[i];
    if (index(change.node) >= cluster.nodes.size()) {
      return Error{
          fmt::format("change {} names node {}, but the cluster has {} nodes, numbered from 0", i,
                      index(change.node), cluster.nodes.size())};
    }
    if (!(change.time >= last) || change.time == kNever) {
      return Error{fmt::format("change {} is at {} s, but changes come in order of time, from 0 on",
                               i, change.time)};
    }
    last = change.time;
  }
  return Done{};
}

namespace {

void add_new(std::vector<Symbol>& list, Symbol symbol) {
  if (symbol == kNoSymbol || std::find(list.begin(), list.end(), symbol) != list.end()) return;
  list.push_back(symbol);
}

}  // namespace

std::vector<Symbol> ClusterSpec::partition_names() const {
  std::vector<Symbol> names;
  for (const NodeSpec& node : nodes) add_new(names, node.partition);
  for (const PartitionSpec& partition : partitions) add_new(names, partition.name);
  return names;
}

std::vector<Symbol> ClusterSpec::gpu_types() const {
  std::vector<Symbol> types;
  for (const NodeSpec& node : nodes) add_new(types, node.gpu_type);
  return types;
}

ClusterSpec uniform_cluster(int count, int gpus_per_node) {
  ClusterSpec cluster;
  NodeSpec node;
  node.gpus = gpus_per_node;
  cluster.nodes.assign(static_cast<std::size_t>(count), node);
  return cluster;
}

}  // namespace muster
