#include "workload/cluster_file.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "workload/byte_input.h"
#include "workload/cluster_parts.h"
#include "workload/cluster_slurm.h"
#include "workload/formats/formats.h"
#include "workload/numbers.h"
#include "workload/table_parser.h"

namespace muster {
namespace {

// The rows of a small CSV with a header.
struct Table {
  std::string file;
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::size_t> lines;
};

Result<Table> read_table(std::string_view content, const std::string& file) {
  Table table;
  table.file = file;
  std::size_t line_number = 0;
  for (const std::string_view line : split(content, '\n')) {
    ++line_number;
    if (trim(line).empty()) continue;
    std::vector<std::string> cells = split_cells(line, ',');
    if (table.header.empty()) {
      table.header = std::move(cells);
      continue;
    }
    if (cells.size() != table.header.size()) {
      return Error{fmt::format("{}:{}: found {} columns, expected {}, as in the header", file,
                               line_number, cells.size(), table.header.size())};
    }
    table.rows.push_back(std::move(cells));
    table.lines.push_back(line_number);
  }
  if (table.rows.empty()) return Error{fmt::format("{}: a header but no rows", file)};
  return table;
}

const std::string& cell(const Table& table, std::size_t row, std::string_view column) {
  const auto found = std::find(table.header.begin(), table.header.end(), column);
  return table.rows[row][static_cast<std::size_t>(found - table.header.begin())];
}

Result<int> whole(const Table& table, std::size_t row, std::string_view column, int least,
                  int most) {
  const std::string& text = cell(table, row, column);
  int value = 0;
  if (read_whole_number(text, value) && value >= least && value <= most) return value;
  return Error{fmt::format("{}:{}: column {}: found '{}', expected a whole number from {} to {}",
                           table.file, table.lines[row], column, text, least, most)};
}

Result<double> amount(const Table& table, std::size_t row, std::string_view column) {
  const std::string& text = cell(table, row, column);
  double value = 0;
  if (read_real(text, value) && value >= 0 && value < 1e12) return value;
  return Error{fmt::format("{}:{}: column {}: found '{}', expected a number of at least 0",
                           table.file, table.lines[row], column, text)};
}

// Tiresias, Muri and ElasticFlow: one row for the whole cluster.
Result<ClusterSpec> switches(const Table& table, Symbols& symbols) {
  if (table.rows.size() != 1) {
    return Error{fmt::format("{}: found {} rows, expected one: it describes the whole cluster",
                             table.file, table.rows.size())};
  }
  const auto racks = whole(table, 0, "num_switch", 1, kMostNodes);
  if (!racks) return racks.error();
  const auto per_rack = whole(table, 0, "num_node_p_switch", 1, kMostNodes / *racks);
  if (!per_rack) return per_rack.error();
  NodeSpec node;
  const auto gpus = whole(table, 0, "num_gpu_p_node", 0, 1 << 16);
  if (!gpus) return gpus.error();
  const auto cpus = amount(table, 0, "num_cpu_p_node");
  if (!cpus) return cpus.error();
  const auto memory = amount(table, 0, "mem_p_node");
  if (!memory) return memory.error();
  node.gpus = *gpus;
  node.cpus = *cpus;
  node.memory_gb = *memory;
  ClusterSpec cluster;
  for (node.rack = 0; node.rack < *racks; ++node.rack)
    append_nodes(cluster, node, *per_rack, symbols);
  return finish_cluster(std::move(cluster), table.file);
}

// Lucid: a virtual cluster and its number of nodes per row; every node has eight GPUs.
Result<ClusterSpec> virtual_clusters(const Table& table, Symbols& symbols) {
  constexpr int kGpusPerNode = 8;
  ClusterSpec cluster;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const auto count = whole(table, row, "num", 1, kMostNodes);
    if (!count) return count.error();
    const std::string& name = table.rows[row][0];
    if (name.empty()) {
      return Error{
          fmt::format("{}:{}: column 1: found nothing, expected the name of a virtual cluster",
                      table.file, table.lines[row])};
    }
    NodeSpec node;
    node.gpus = kGpusPerNode;
    node.partition = symbols.intern(name);
    append_nodes(cluster, node, *count, symbols);
    if (cluster.nodes.size() > static_cast<std::size_t>(kMostNodes)) {
      return Error{
          fmt::format("{}:{}: more than {} nodes", table.file, table.lines[row], kMostNodes)};
    }
  }
  return finish_cluster(std::move(cluster), table.file);
}

// Alibaba's openb: a node per row. Nodes without GPUs are skipped: Muster allocates GPUs.
Result<ClusterSpec> node_list(const Table& table, Symbols& symbols) {
  ClusterSpec cluster;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const auto gpus = whole(table, row, "gpu", 0, 1 << 16);
    if (!gpus) return gpus.error();
    const auto cpu_milli = amount(table, row, "cpu_milli");
    if (!cpu_milli) return cpu_milli.error();
    const auto memory_mib = amount(table, row, "memory_mib");
    if (!memory_mib) return memory_mib.error();
    if (*gpus == 0) continue;
    NodeSpec node;
    node.name = symbols.intern(cell(table, row, "sn"));
    node.gpu_type = symbols.intern(cell(table, row, "model"));
    node.gpus = *gpus;
    node.cpus = *cpu_milli / 1000;
    node.memory_gb = *memory_mib / 1024;
    append_nodes(cluster, node, 1, symbols);
  }
  return finish_cluster(std::move(cluster), table.file);
}

bool has_columns(const Table& table, std::initializer_list<std::string_view> columns) {
  return std::all_of(columns.begin(), columns.end(), [&table](std::string_view column) {
    return std::find(table.header.begin(), table.header.end(), column) != table.header.end();
  });
}

Error unknown_content(const std::string& name) {
  return Error{
      fmt::format("{}: this is not a cluster file; legal forms are\n{}", name, cluster_forms())};
}

Result<ClusterSpec> parse_cluster_csv(std::string_view content, const std::string& name,
                                      Symbols& symbols) {
  const auto table = read_table(content, name);
  if (!table) return table.error();
  if (has_columns(*table, {"num_switch", "num_node_p_switch", "num_gpu_p_node", "num_cpu_p_node",
                           "mem_p_node"})) {
    return switches(*table, symbols);
  }
  if (has_columns(*table, {"sn", "cpu_milli", "memory_mib", "gpu", "model"})) {
    return node_list(*table, symbols);
  }
  if (table->header.size() == 2 && table->header[1] == "num")
    return virtual_clusters(*table, symbols);
  return unknown_content(name);
}

// A short text never contains a dot or a slash, and every path that a user means has one or exists.
bool looks_like_shape(std::string_view text) {
  if (text.find_first_of("./\\ ") != std::string_view::npos || text.empty()) return false;
  return (text.front() >= '0' && text.front() <= '9') || text.find('=') != std::string_view::npos;
}

}  // namespace

std::string_view cluster_forms() {
  return "  32x4                       nodes x GPUs per node\n"
         "  16x8:v100,4x8:a100         groups of nodes with their GPU types\n"
         "  36:36:36 or 36:36:36@4:2:2 V100:P100:K80 GPUs, and GPUs per server (1)\n"
         "  v100=36,p100=36@4          GPUs by type, and GPUs per server (1)\n"
         "  FILE.toml                  tables [[nodes]], [[partitions]] and [[changes]]\n"
         "  FILE.csv                   "
         "num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node;\n"
         "                             or Lucid's vc_config; or the openb node list\n"
         "  FILE.json                  Gavel's cluster_specs, as {\"philly\": [\"36:36:36\"]}\n"
         "  FILE                       what Slurm's `scontrol show node`, `sinfo --json` or\n"
         "                             `sinfo -N -o \"%N|%G|%c|%m|%P|%T\"` wrote";
}

void append_nodes(ClusterSpec& cluster, const NodeSpec& node, int count, Symbols& symbols) {
  for (int i = 0; i < count; ++i) {
    NodeSpec& added = cluster.nodes.emplace_back(node);
    if (added.name == kNoSymbol) {
      added.name = symbols.intern(fmt::format("node{}", cluster.nodes.size() - 1));
    }
  }
}

Result<ClusterSpec> finish_cluster(ClusterSpec cluster, const std::string& name) {
  std::set<Symbol> declared;
  for (const PartitionSpec& partition : cluster.partitions) declared.insert(partition.name);
  for (const NodeSpec& node : cluster.nodes) {
    if (node.partition != kNoSymbol && declared.insert(node.partition).second) {
      cluster.partitions.push_back({node.partition, 0});
    }
  }
  if (const Status valid = validate(cluster); !valid) {
    return Error{fmt::format("{}: {}", name, valid.error().message)};
  }
  return cluster;
}

Result<ClusterSpec> parse_cluster_text(std::string_view content, const std::string& name,
                                       Symbols& symbols) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (content.starts_with(kByteOrderMark)) content.remove_prefix(kByteOrderMark.size());
  const std::string_view first = first_line(content);
  if (first.empty()) return Error{fmt::format("{}: the file is empty", name)};
  if (is_slurm_nodes(content)) {
    auto nodes = parse_slurm_nodes(content, name, "", symbols);
    if (!nodes) return nodes.error();
    return std::move(nodes->cluster);
  }
  if (first.front() == '{') return parse_cluster_json(content, name, symbols);
  const bool toml_like =
      first.front() == '[' || first.front() == '#' || first.find('=') != std::string_view::npos;
  if (!toml_like && first.find(',') != std::string_view::npos)
    return parse_cluster_csv(content, name, symbols);
  return parse_cluster_toml(content, name, symbols);
}

Result<ClusterSpec> read_cluster_file(const std::string& path, Symbols& symbols) {
  const auto content = read_whole(path);
  if (!content) return content.error();
  return parse_cluster_text(*content, path == "-" ? "standard input" : path, symbols);
}

Result<ClusterSpec> read_cluster(const std::string& text, Symbols& symbols) {
  if (looks_like_shape(text)) return parse_cluster_shape(text, symbols);
  std::error_code ignored;
  if (text != "-" && !std::filesystem::exists(text, ignored)) {
    return Error{fmt::format("'{}' is neither a cluster file nor a short form; legal forms are\n{}",
                             text, cluster_forms())};
  }
  return read_cluster_file(text, symbols);
}

}  // namespace muster
