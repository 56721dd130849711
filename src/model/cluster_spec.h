// What a cluster is made of, as written in a file: nodes, partitions with quotas, and nodes that
// come and go.
#pragma once

#include <vector>

#include "base/result.h"
#include "base/symbols.h"
#include "model/ids.h"

namespace muster {

struct NodeSpec {
  Symbol name = kNoSymbol;
  Symbol gpu_type = kNoSymbol;   // kNoSymbol: the one type of a homogeneous cluster
  Symbol partition = kNoSymbol;  // kNoSymbol: open to every job
  int gpus = 8;
  double cpus = 0;  // 0: plentiful
  double memory_gb = 0;
  int rack = 0;        // switch or rack number
  bool spare = false;  // powered down until a scaling policy wants it
};

// A virtual cluster. Its nodes carry its name; a quota also binds where nodes are shared.
struct PartitionSpec {
  Symbol name = kNoSymbol;
  int quota = 0;  // GPUs its jobs may hold at once; 0: as many as its nodes have
};

// At `time` the node joins the cluster or leaves it.
struct NodeChange {
  Seconds time = 0;
  NodeId node{};
  bool joins = true;
};

struct ClusterSpec {
  std::vector<NodeSpec> nodes;
  std::vector<PartitionSpec> partitions;
  std::vector<NodeChange> schedule;  // by time; a node whose first entry joins is absent until then

  int total_gpus() const {
    int sum = 0;
    for (const NodeSpec& node : nodes) sum += node.gpus;
    return sum;
  }
  // Each once, in the order of the nodes; partitions that have only a quota come last.
  std::vector<Symbol> partition_names() const;
  std::vector<Symbol> gpu_types() const;
};

// Checks what a file can get wrong: no GPUs, too many on one node, unknown nodes in the schedule.
Status validate(const ClusterSpec& cluster);

// `count` equal nodes: the shape most papers use.
ClusterSpec uniform_cluster(int count, int gpus_per_node);

}  // namespace muster
