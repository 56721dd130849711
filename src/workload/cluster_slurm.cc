#include "workload/cluster_slurm.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "model/gpu_set.h"
#include "workload/cluster_parts.h"
#include "workload/formats/formats.h"
#include "workload/formats/slurm_text.h"
#include "workload/numbers.h"
#include "workload/table_parser.h"

namespace muster {
namespace {

constexpr double kMebibytesPerGibibyte = 1024;

// A node as Slurm's commands show it, in texts.
struct ShownNode {
  std::string name;
  std::string gres;
  std::string cpus;
  std::string memory_mb;
  std::string state;
  std::vector<std::string> partitions;
  std::size_t line = 0;
};
using ShownNodes = std::vector<ShownNode>;

std::vector<std::string> names_of(std::string_view list) {
  std::vector<std::string> names;
  if (is_slurm_nothing(list)) return names;
  for (std::string_view name : split(list, ',')) {
    name = trim(name);
    if (name.ends_with('*')) name.remove_suffix(1);  // the default partition
    if (!name.empty()) names.emplace_back(name);
  }
  return names;
}

// The value of KEY=VALUE in a text of such pairs; the first counts, since what people write
// (Reason=, Comment=) comes last.
std::string_view value_of(std::string_view text, std::string_view key) {
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    const std::size_t after = at + key.size();
    const bool begins = at == 0 || static_cast<unsigned char>(text[at - 1]) <= ' ';
    if (!begins || after >= text.size() || text[after] != '=') continue;
    const std::string_view rest = text.substr(after + 1);
    return rest.substr(0, rest.find_first_of(" \t\r\n"));
  }
  return {};
}

ShownNodes show_node(std::string_view content) {
  constexpr std::string_view kBegin = "NodeName=";
  ShownNodes nodes;
  std::vector<std::string> texts;
  std::size_t line_number = 0;
  for (const std::string_view line : split(content, '\n')) {
    ++line_number;
    if (trim(line).starts_with(kBegin)) {
      nodes.emplace_back().line = line_number;
      texts.emplace_back();
    }
    if (!texts.empty()) texts.back().append(line).append("\n");
  }
  auto text = texts.cbegin();
  for (ShownNode& node : nodes) {
    const auto value = [&shown = *text](std::string_view key) {
      return std::string(value_of(shown, key));
    };
    ++text;
    node.name = value("NodeName");
    node.gres = value("Gres");
    // Cores that are set aside for the system are not for jobs.
    node.cpus = value("CPUEfctv").empty() ? value("CPUTot") : value("CPUEfctv");
    node.memory_mb = value("RealMemory");
    node.state = value("State");
    node.partitions = names_of(value("Partitions"));
  }
  return nodes;
}

// One row per node and partition.
ShownNodes sinfo_table(std::string_view content) {
  ShownNodes nodes;
  std::map<std::string, std::size_t, std::less<>> positions;
  std::vector<std::string> header;
  std::size_t line_number = 0;
  for (const std::string_view line : split(content, '\n')) {
    ++line_number;
    if (trim(line).empty()) continue;
    std::vector<std::string> cells = split_cells(line, '|');
    if (header.empty()) {
      header = std::move(cells);
      continue;
    }
    const auto cell = [&](std::string_view name) {
      const auto at = std::find(header.begin(), header.end(), name) - header.begin();
      return static_cast<std::size_t>(at) < cells.size() ? cells[static_cast<std::size_t>(at)]
                                                         : std::string();
    };
    const auto [known, added] = positions.emplace(cell("NODELIST"), nodes.size());
    if (added) {
      nodes.push_back({cell("NODELIST"),
                       cell("GRES"),
                       cell("CPUS"),
                       cell("MEMORY"),
                       cell("STATE"),
                       {},
                       line_number});
    }
    for (std::string& partition : names_of(cell("PARTITION"))) {
      nodes[known->second].partitions.push_back(std::move(partition));
    }
  }
  return nodes;
}

// A number or a text, also inside {"number": 4}, as later releases write it.
std::string json_text(const nlohmann::json& node, const char* key) {
  const auto found = node.find(key);
  if (found == node.end()) return "";
  if (found->is_string()) return found->get<std::string>();
  if (found->is_number()) return found->dump();
  if (found->is_object() && found->contains("number")) return json_text(*found, "number");
  if (found->is_array()) {
    std::vector<std::string> words;
    for (const nlohmann::json& word : *found) {
      if (word.is_string()) words.push_back(word.get<std::string>());
    }
    return fmt::format("{}", fmt::join(words, "+"));
  }
  return "";
}

ShownNodes sinfo_json(std::string_view content) {
  ShownNodes nodes;
  const nlohmann::json document = nlohmann::json::parse(content, nullptr, false);
  if (!document.is_object() || !document.contains("nodes")) return nodes;
  for (const nlohmann::json& node : document["nodes"]) {
    if (!node.is_object()) continue;
    ShownNode& shown = nodes.emplace_back();
    shown.name = json_text(node, "name");
    shown.gres = json_text(node, "gres");
    shown.cpus = json_text(node, "effective_cpus");
    if (shown.cpus.empty() || shown.cpus == "0") shown.cpus = json_text(node, "cpus");
    shown.memory_mb = json_text(node, "real_memory");
    shown.state = json_text(node, "state");
    const std::string partitions = json_text(node, "partitions");
    for (const std::string_view name : split(partitions, '+')) {
      if (!name.empty()) shown.partitions.emplace_back(name);
    }
    shown.line = 1;
  }
  return nodes;
}

class SlurmClusterBuilder {
 public:
  SlurmClusterBuilder(const std::string& file, const std::string& partition, Symbols& symbols)
      : file_(file), partition_(partition), symbols_(symbols) {}

  Result<SlurmNodes> build(const ShownNodes& shown) {
    const bool overlapping = std::any_of(shown.begin(), shown.end(), [](const ShownNode& node) {
      return node.partitions.size() != 1;
    });
    for (const ShownNode& node : shown) {
      const auto& names = node.partitions;
      partitions_.insert(names.begin(), names.end());
      if (!partition_.empty() && std::find(names.begin(), names.end(), partition_) == names.end()) {
        continue;
      }
      const std::string home = !partition_.empty() ? partition_ : overlapping ? "" : names.front();
      if (const Status added = add(node, home); !added) return added.error();
    }
    if (result_.cluster.nodes.empty()) return nothing();
    tell(overlapping && partition_.empty() && partitions_.size() > 1);
    auto cluster = finish_cluster(std::move(result_.cluster), file_);
    if (!cluster) return cluster.error();
    result_.cluster = std::move(*cluster);
    return std::move(result_);
  }

 private:
  Status add(const ShownNode& shown, const std::string& partition) {
    TrackableResources has;
    if (!read_tres(shown.gres, has)) {
      return wrong(shown, "GRES", shown.gres, "generic resources like gpu:a100:8");
    }
    double cpus = 0;
    double memory_mb = 0;
    if (!amount(shown.cpus, cpus)) return wrong(shown, "CPUs", shown.cpus, "a number");
    if (!amount(shown.memory_mb, memory_mb)) {
      return wrong(shown, "memory", shown.memory_mb, "a number of mebibytes");
    }
    if (shown.name.empty()) return wrong(shown, "name", "", "the name of a node");
    if (shown.name.find('[') != std::string::npos) {
      return wrong(shown, "name", shown.name, "one node a line: give sinfo the option -N");
    }
    if (!names_.insert(shown.name).second) {
      return Error{fmt::format("{}:{}: node {} is there twice", file_, shown.line, shown.name)};
    }
    if (has.gpus == 0) {
      ++without_gpus_;
      return Done{};
    }
    if (has.gpus > kMaxGpusPerNode) {
      return wrong(shown, "GRES", shown.gres, fmt::format("at most {} GPUs", kMaxGpusPerNode));
    }
    if (is_away(shown.state)) away_.push_back(fmt::format("{} ({})", shown.name, shown.state));
    if (has.types.size() > 1) mixed_.push_back(shown.name);
    if (has.types.size() < 2) has.types = {{has.gpu_type, has.gpus}};
    for (const TypedGpus& part : has.types) {
      if (part.count == 0) continue;
      const double share = static_cast<double>(part.count) / has.gpus;
      NodeSpec node;
      node.name =
          symbols_.intern(has.types.size() == 1 ? shown.name : shown.name + ":" + part.type);
      node.gpu_type = symbols_.intern(part.type);
      node.partition = symbols_.intern(partition);
      node.gpus = part.count;
      node.cpus = cpus * share;
      node.memory_gb = memory_mb / kMebibytesPerGibibyte * share;
      result_.cluster.nodes.push_back(node);
    }
    return Done{};
  }

  // "16+" is what sinfo writes of nodes that have 16 and more; empty means unknown.
  static bool amount(std::string_view text, double& value) {
    if (text.ends_with('+')) text.remove_suffix(1);
    return is_slurm_nothing(text) || (read_real(text, value) && value >= 0 && value < 1e12);
  }
  static bool is_away(std::string_view state) {
    std::string upper(state);
    std::transform(upper.begin(), upper.end(), upper.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
    for (const std::string_view word : {"DOWN", "DRAIN", "FAIL", "UNKNOWN", "FUTURE", "INVAL"}) {
      if (upper.find(word) != std::string::npos) return true;
    }
    return false;
  }
  Error wrong(const ShownNode& node, std::string_view what, std::string_view found,
              std::string_view expected) const {
    return Error{fmt::format("{}:{}: {} of node '{}': found '{}', expected {}", file_, node.line,
                             what, node.name, found, expected)};
  }
  Error nothing() const {
    if (!partition_.empty() && partitions_.count(partition_) == 0) {
      return Error{fmt::format("{}: no node is in the partition '{}'; there are: {}", file_,
                               partition_, fmt::join(partitions_, ", "))};
    }
    return Error{fmt::format("{}: none of the {} nodes has GPUs", file_, without_gpus_)};
  }
  void tell(bool open) {
    std::vector<std::string>& notes = result_.notes;
    if (without_gpus_ > 0) {
      notes.push_back(fmt::format("{} nodes without GPUs were left out", without_gpus_));
    }
    if (!away_.empty()) {
      notes.push_back(
          fmt::format("not in service now, but part of the cluster: {}", fmt::join(away_, ", ")));
    }
    if (!mixed_.empty()) {
      notes.push_back(fmt::format("nodes with several GPU types became one node for each: {}",
                                  fmt::join(mixed_, ", ")));
    }
    if (open) {
      notes.push_back(
          fmt::format("the partitions {} overlap: every node is open to every job (choose one with "
                      "--partition)",
                      fmt::join(partitions_, ", ")));
    }
  }

  const std::string& file_;
  const std::string& partition_;
  Symbols& symbols_;
  SlurmNodes result_;
  std::set<std::string> names_;
  std::set<std::string> partitions_;
  std::vector<std::string> away_;
  std::vector<std::string> mixed_;
  std::size_t without_gpus_ = 0;
};

bool is_sinfo_table(std::string_view content) {
  return header_names(content, '|', {"NODELIST", "GRES"});
}

// What sinfo writes for people; with -l there is a date above its header.
bool is_sinfo_for_people(std::string_view content) {
  std::string_view rest = content.substr(0, 1000);
  for (int line = 0; line < 2; ++line) {
    const std::string_view header = first_line(rest);
    if (header.empty()) return false;
    const auto names = [header](std::string_view word) {
      return header.find(word) != std::string_view::npos;
    };
    if (names("NODELIST") && names("STATE") && !names("=")) return true;
    rest.remove_prefix(std::min(
        rest.size(), static_cast<std::size_t>(header.data() - rest.data()) + header.size()));
  }
  return false;
}

}  // namespace

bool is_slurm_nodes(std::string_view content) {
  const std::string_view first = first_line(content);
  if (first.starts_with("NodeName=") || is_sinfo_table(first)) return true;
  if (is_sinfo_for_people(content)) return true;
  // A small object is one of Gavel's; what Slurm writes has the names of its fields.
  return first.starts_with("{") && content.find("\"nodes\"") != std::string_view::npos &&
         content.find("\"gres\"") != std::string_view::npos;
}

Result<SlurmNodes> parse_slurm_nodes(std::string_view content, const std::string& name,
                                     const std::string& partition, Symbols& symbols) {
  const std::string_view first = first_line(content);
  if (!is_sinfo_table(first) && is_sinfo_for_people(content)) {
    return Error{
        fmt::format("{}: this form of sinfo does not say what nodes have; use the output of "
                    "`scontrol show node`, or of `sinfo -N -o \"%N|%G|%c|%m|%P|%T\"`",
                    name)};
  }
  const ShownNodes nodes = first.starts_with("NodeName=") ? show_node(content)
                           : first.starts_with("{")       ? sinfo_json(content)
                                                          : sinfo_table(content);
  if (nodes.empty()) return Error{fmt::format("{}: Slurm shows no nodes here", name)};
  if (nodes.size() > static_cast<std::size_t>(kMostNodes)) {
    return Error{fmt::format("{}: more than {} nodes", name, kMostNodes)};
  }
  return SlurmClusterBuilder(name, partition, symbols).build(nodes);
}

}  // namespace muster
