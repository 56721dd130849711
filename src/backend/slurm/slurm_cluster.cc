#include "backend/slurm/slurm_cluster.h"

#include <algorithm>

#include <fmt/format.h>

#include "backend/slurm/command.h"
#include "backend/slurm/scontrol_line.h"
#include "base/text.h"
#include "model/gpu_set.h"

namespace muster {
namespace {

// n2 before n10.
bool before(const SlurmHost& a, const SlurmHost& b) {
  const auto split_name = [](const std::string& name) {
    const std::size_t end = name.find_last_not_of("0123456789");
    const std::size_t begin = end == std::string::npos ? 0 : end + 1;
    return std::pair(name.substr(0, begin), parse_integer(name.substr(begin)).value_or(-1));
  };
  const auto left = split_name(a.name);
  const auto right = split_name(b.name);
  return left != right ? left < right : a.name < b.name;
}

Status check_partitions(const std::vector<SlurmNode>& nodes,
                        const std::vector<std::string>& partitions) {
  std::vector<std::string_view> known;
  for (const SlurmNode& node : nodes) {
    for (const std::string& name : node.partitions) {
      if (std::find(known.begin(), known.end(), name) == known.end()) known.push_back(name);
    }
  }
  for (const std::string& name : partitions) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return Error{unknown_name("partition", name, known)};
    }
  }
  return Done{};
}

// Why the node cannot be used; empty: it can.
std::string unfit(const SlurmHost& host, const SlurmNode& node) {
  if (host.gpus == 0) return "it has no GPUs";
  if (host.gpus > kMaxGpusPerNode) return fmt::format("it has more than {} GPUs", kMaxGpusPerNode);
  if (!ScontrolLine::plain(host.name)) return "its name is not a plain word";
  int types = 0;
  for (const Gres& gres : node.gres) types += gres.name == "gpu" && gres.count > 0 ? 1 : 0;
  if (types > 1) return "it has GPUs of several types";
  return {};
}

}  // namespace

Result<SlurmCluster> SlurmCluster::find(const std::vector<SlurmNode>& nodes,
                                        const std::vector<std::string>& partitions,
                                        std::vector<std::string>& notes) {
  if (Status known = check_partitions(nodes, partitions); !known) return known.error();
  SlurmCluster cluster;
  for (const SlurmNode& node : nodes) {
    SlurmHost host;
    host.name = node.name;
    for (const std::string& name : partitions) {
      if (std::find(node.partitions.begin(), node.partitions.end(), name) ==
          node.partitions.end()) {
        continue;
      }
      if (!host.partition.empty()) {
        return Error{fmt::format(
            "node {} is in the partitions {} and {}: a job of Slurm belongs to one; give one of "
            "them, or partitions that have no node in common",
            node.name, host.partition, name)};
      }
      host.partition = name;
    }
    if (host.partition.empty()) continue;
    host.gpus = count_of(node.gres, "gpu");
    host.gpu_type = type_of(node.gres, "gpu");
    host.features = node.features;
    host.shards = host.gpus > 0 ? count_of(node.gres, "shard") / host.gpus : 0;
    host.cpus = node.cpus;
    host.memory_gb = node.memory_mb * (1 << 20) / 1e9;
    if (const std::string why = unfit(host, node); !why.empty()) {
      notes.push_back(fmt::format("node {} is left out: {}", complaint(node.name), why));
      continue;
    }
    cluster.hosts_.push_back(std::move(host));
  }
  if (cluster.hosts_.empty()) {
    return Error{"no node of these partitions has GPUs that Slurm knows of (Gres=gpu:N)"};
  }
  std::sort(cluster.hosts_.begin(), cluster.hosts_.end(), before);
  for (std::size_t i = 0; i < cluster.hosts_.size(); ++i) {
    cluster.by_name_[cluster.hosts_[i].name] = NodeId{static_cast<std::uint32_t>(i)};
  }
  return cluster;
}

NodeId SlurmCluster::node(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? kNoNode : found->second;
}

std::string SlurmCluster::toml() const {
  std::string text;
  for (const SlurmHost& host : hosts_) {
    text += fmt::format("[[nodes]]\nname = \"{}\"\npartition = \"{}\"\ngpus = {}\n", host.name,
                        host.partition, host.gpus);
    if (!host.gpu_type.empty()) text += fmt::format("gpu_type = \"{}\"\n", host.gpu_type);
    if (host.cpus > 0) text += fmt::format("cpus = {}\n", host.cpus);
    if (host.memory_gb > 0) text += fmt::format("memory_gb = {:.3f}\n", host.memory_gb);
    text += "rack = 0\n";
  }
  return text;
}

}  // namespace muster
