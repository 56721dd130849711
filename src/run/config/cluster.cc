#include <string>

#include <fmt/format.h>

#include "run/config/config.h"
#include "run/config/toml.h"
#include "workload/cluster_file.h"

namespace muster {
namespace {

// As one table [[nodes]] of `count` nodes named NAME0, NAME1, ...; of a single one named NAME.
std::string nodes_text(const NodeSpec& node, int count, const std::string& name,
                       const Symbols& symbols) {
  std::string out = "[[nodes]]\n";
  const auto line = [&out](std::string_view key, const std::string& value) {
    out += fmt::format("{} = {}\n", key, value);
  };
  if (count > 1) line("count", fmt::to_string(count));
  line("gpus", fmt::to_string(node.gpus));
  if (node.gpu_type != kNoSymbol) line("gpu_type", toml_quoted(symbols.text(node.gpu_type)));
  if (node.cpus > 0) line("cpus", toml_number(node.cpus));
  if (node.memory_gb > 0) line("memory_gb", toml_number(node.memory_gb));
  line("rack", fmt::to_string(node.rack));
  if (node.partition != kNoSymbol) line("partition", toml_quoted(symbols.text(node.partition)));
  if (node.spare) line("spare", "true");
  line("name", toml_quoted(name));
  return out + "\n";
}

bool alike(const NodeSpec& a, const NodeSpec& b) {
  return a.gpus == b.gpus && a.gpu_type == b.gpu_type && a.cpus == b.cpus &&
         a.memory_gb == b.memory_gb && a.rack == b.rack && a.partition == b.partition &&
         a.spare == b.spare;
}

}  // namespace

Result<ClusterSpec> make_cluster(const ClusterConfig& config, Symbols& symbols) {
  if (!config.file.empty()) return read_cluster_file(config.file, symbols);
  if (!config.text.empty()) return parse_cluster_text(config.text, "[cluster]", symbols);
  return parse_cluster_shape(config.shape, symbols);
}

std::string cluster_file_text(const ClusterSpec& cluster, const Symbols& symbols) {
  std::string out;
  for (std::size_t begin = 0; begin < cluster.nodes.size();) {
    const NodeSpec& first = cluster.nodes[begin];
    const std::string& name = symbols.text(first.name);
    // Equal nodes whose names count from 0 are a group.
    const std::string stem = name.ends_with('0') ? name.substr(0, name.size() - 1) : "";
    std::size_t end = begin + 1;
    while (!stem.empty() && end < cluster.nodes.size() && alike(first, cluster.nodes[end]) &&
           symbols.text(cluster.nodes[end].name) == fmt::format("{}{}", stem, end - begin)) {
      ++end;
    }
    const auto count = static_cast<int>(end - begin);
    out += nodes_text(first, count, count > 1 ? stem : name, symbols);
    begin = end;
  }
  for (const PartitionSpec& partition : cluster.partitions) {
    if (partition.quota == 0) continue;
    out += fmt::format("[[partitions]]\nname = {}\nquota = {}\n\n",
                       toml_quoted(symbols.text(partition.name)), partition.quota);
  }
  for (const NodeChange& change : cluster.schedule) {
    out += fmt::format("[[changes]]\ntime_s = {}\nnode = {}\njoins = {}\n\n",
                       toml_number(change.time), index(change.node), change.joins);
  }
  return out;
}

}  // namespace muster
