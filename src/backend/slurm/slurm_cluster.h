// The nodes of the given partitions, as Muster sees them. Nothing else of the cluster is ever
// touched.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "backend/slurm/rows.h"
#include "base/result.h"
#include "model/ids.h"

namespace muster {

struct SlurmHost {
  std::string name;
  std::string partition;
  std::string gpu_type;
  std::string features;  // with commas
  int gpus = 0;
  int shards = 0;  // of each GPU; 0: they cannot be shared
  int cpus = 0;
  double memory_gb = 0;
};

class SlurmCluster {
 public:
  // In the order of their names' numbers. Refused: unknown partitions, nodes in two of them, none
  // with GPUs. `notes`: nodes that are left out, and why.
  static Result<SlurmCluster> find(const std::vector<SlurmNode>& nodes,
                                   const std::vector<std::string>& partitions,
                                   std::vector<std::string>& notes);

  const std::vector<SlurmHost>& hosts() const { return hosts_; }
  const SlurmHost& host(NodeId node) const { return hosts_[index(node)]; }
  bool has(NodeId node) const { return index(node) < hosts_.size(); }
  // kNoNode: it is not ours.
  NodeId node(const std::string& name) const;
  // As a cluster file.
  std::string toml() const;

 private:
  std::vector<SlurmHost> hosts_;
  std::map<std::string, NodeId> by_name_;
};

}  // namespace muster
