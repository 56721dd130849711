// Which nodes a job would get on an empty cluster that fills up in a given order: the consolidated
// rule of YARN that Tiresias and Muri use, on counts alone, so that a policy can ask "would it fit
// behind those?" a hundred times per turn.
//
// A job no larger than a node goes to the first node with room. A larger one gets the first idle
// nodes and at most one more for the rest, all under one switch. All or nothing.
#pragma once

#include <span>
#include <vector>

#include "model/cluster_state.h"

namespace muster {

struct NodePart {
  NodeId node{};
  int gpus = 0;
  double memory_gb = 0;  // where memory is counted
};

// Memory that is counted apart from what clusters say of their hosts.
class NodeMemory {
 public:
  virtual ~NodeMemory() = default;
  // What a job of that many GPUs needs if it fits on one node.
  virtual double on_one_node(int gpus) const = 0;
  // What it needs beside each of its GPUs if it spans several.
  virtual double beside_each_gpu(int gpus) const = 0;

  std::vector<double> free_gb;  // by node
};

class NodeFit {
 public:
  // Forgets everything: every node that is up and not drained is empty.
  void reset(const ClusterState& cluster);
  // Instead, nodes have what is free on them now.
  void reset_to_free(const ClusterState& cluster);
  // Takes room for a job on nodes of these pools and, if asked, says where. Room never comes back
  // before reset().
  bool take(int gpus, std::span<const PoolId> pools, std::vector<NodePart>* where = nullptr);
  // The same where any node will do.
  bool take(int gpus, std::vector<NodePart>* where = nullptr) { return take(gpus, all_, where); }
  // The next take() needs these beside each GPU too, of nodes that say what they have.
  void ask_for(const HostResources& host) {
    host_ = host;
    only_gpus_ = memory_ == nullptr && !host_.any();
  }
  bool asks_for_host() const { return host_.any(); }
  int free() const { return free_; }
  // From now on jobs also need memory of nodes, as much as the rule says, and take it; null: they
  // need none. It must outlive the next reset().
  void count_memory(NodeMemory* memory) {
    memory_ = memory;
    only_gpus_ = memory_ == nullptr && !host_.any();
  }
  // Whether it would fit an empty cluster with all its nodes up, with these beside each GPU.
  static bool ever(const ClusterState& cluster, int gpus, std::span<const PoolId> pools,
                   const HostResources& host = {});

 private:
  struct Node {
    NodeId id{};
    PoolId pool{};
    int rack = 0;
    int size = 0;
    int free = 0;
    double cpus = 0;  // free; without bound where the node does not say
    double memory = 0;
  };
  struct Switch {
    std::size_t first = 0;
    std::size_t last = 0;
    int largest = 0;
    std::vector<std::size_t> start;  // by GPUs: no node before this one has room
  };
  bool describes(const ClusterState& cluster) const;
  void describe(const ClusterState& cluster);
  bool take_first(Switch& at, int gpus, std::vector<NodePart>* where);
  bool take_in(Switch& at, int gpus, std::span<const PoolId> pools, std::vector<NodePart>* where);
  bool has_room(std::size_t node, int gpus, std::span<const PoolId> pools, double memory_gb) const;
  void give(std::size_t node, int gpus, double memory_gb, std::vector<NodePart>* where);

  std::vector<Node> nodes_;  // by switch, then by id
  std::vector<Switch> switches_;
  std::vector<std::size_t> chosen_;
  std::vector<PoolId> all_;
  NodeMemory* memory_ = nullptr;
  HostResources host_;
  bool only_gpus_ = true;  // neither memory nor anything of the host is counted
  int free_ = 0;
  int refused_ = 0;  // where any node will do: no job of this size or larger fits any more
};

}  // namespace muster
