// Clusters in TOML, with every detail, and Gavel's cluster_specs.json.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "base/toml_library.h"
#include "model/gpu_set.h"
#include "workload/cluster_file.h"
#include "workload/cluster_parts.h"

namespace muster {
namespace {

// Reads one table of the document; the first mistake is kept, and everything after it reads as
// absent.
class TableReader {
 public:
  TableReader(const toml::table& table, const std::string& file, std::string_view kind)
      : table_(table), file_(file), kind_(kind) {}

  void only(std::initializer_list<std::string_view> known) {
    const std::vector<std::string_view> names(known);
    for (const auto& [key, value] : table_) {
      if (std::find(names.begin(), names.end(), key.str()) == names.end()) {
        complain(value, fmt::format("{}: {}", kind_, unknown_name("key", key.str(), names)));
      }
    }
  }
  bool has(std::string_view key) const { return table_.contains(key); }

  long long whole(std::string_view key, long long initial, long long least, long long most) {
    const toml::node* node = table_.get(key);
    if (node == nullptr) return initial;
    const auto value = node->value_exact<std::int64_t>();
    if (value && *value >= least && *value <= most) return *value;
    complain(*node, fmt::format("{} in {}: found {}, expected a whole number from {} to {}", key,
                                kind_, shown(*node), least, most));
    return initial;
  }
  double amount(std::string_view key, double initial) {
    const toml::node* node = table_.get(key);
    if (node == nullptr) return initial;
    const auto value = node->is_number() ? node->value<double>() : std::nullopt;
    if (value && *value >= 0 && std::isfinite(*value)) return *value;
    complain(*node, fmt::format("{} in {}: found {}, expected a number of at least 0", key, kind_,
                                shown(*node)));
    return initial;
  }
  std::string text(std::string_view key) {
    const toml::node* node = table_.get(key);
    if (node == nullptr) return "";
    const auto value = node->value_exact<std::string>();
    if (value && !value->empty()) return *value;
    complain(*node, fmt::format("{} in {}: found {}, expected a text", key, kind_, shown(*node)));
    return "";
  }
  bool flag(std::string_view key, bool initial) {
    const toml::node* node = table_.get(key);
    if (node == nullptr) return initial;
    const auto value = node->value_exact<bool>();
    if (!value)
      complain(*node,
               fmt::format("{} in {}: found {}, expected true or false", key, kind_, shown(*node)));
    return value.value_or(initial);
  }
  void require(std::string_view key) {
    if (!has(key)) complain(table_, fmt::format("{} lacks '{}'", kind_, key));
  }
  void complain(const toml::node& node, const std::string& message) {
    if (error_.message.empty()) {
      error_.message = fmt::format("{}:{}: {}", file_, node.source().begin.line, message);
    }
  }
  const toml::table& table() const { return table_; }
  Status status() const { return error_.message.empty() ? Status(Done{}) : Status(error_); }

 private:
  static std::string shown(const toml::node& node) {
    if (const auto text = node.value_exact<std::string>()) return fmt::format("'{}'", *text);
    if (const auto number = node.value_exact<std::int64_t>()) return fmt::format("{}", *number);
    if (const auto number = node.value_exact<double>()) return fmt::format("{}", *number);
    if (const auto flag = node.value_exact<bool>()) return *flag ? "true" : "false";
    return "something else";
  }

  const toml::table& table_;
  const std::string& file_;
  std::string_view kind_;
  Error error_;
};

struct Builder {
  const std::string& file;
  Symbols& symbols;
  ClusterSpec cluster;
  std::map<std::string, NodeId, std::less<>> nodes_by_name;
  int next_rack = 0;

  Status add_nodes(const toml::table& table) {
    TableReader reader(table, file, "[[nodes]]");
    reader.only({"count", "gpus", "gpu_type", "cpus", "memory_gb", "rack", "nodes_per_rack",
                 "partition", "name", "spare"});
    reader.require("gpus");
    NodeSpec node;
    const auto count = static_cast<int>(reader.whole("count", 1, 1, kMostNodes));
    node.gpus = static_cast<int>(reader.whole("gpus", 0, 1, kMaxGpusPerNode));
    node.gpu_type = symbols.intern(reader.text("gpu_type"));
    node.partition = symbols.intern(reader.text("partition"));
    node.cpus = reader.amount("cpus", 0);
    node.memory_gb = reader.amount("memory_gb", 0);
    node.spare = reader.flag("spare", false);
    if (reader.has("rack") && reader.has("nodes_per_rack")) {
      reader.complain(table, "[[nodes]] has both rack and nodes_per_rack: choose one");
    }
    // Without either, a group is one rack of its own.
    const int first_rack = static_cast<int>(reader.whole("rack", next_rack, 0, kMostNodes));
    const auto per_rack = static_cast<int>(reader.whole("nodes_per_rack", count, 1, kMostNodes));
    const std::string name = reader.text("name");
    if (cluster.nodes.size() + static_cast<std::size_t>(count) >
        static_cast<std::size_t>(kMostNodes)) {
      reader.complain(table, fmt::format("more than {} nodes", kMostNodes));
    }
    if (const Status read = reader.status(); !read) return read;

    for (int i = 0; i < count; ++i) {
      const std::size_t position = cluster.nodes.size();
      const std::string node_name = name.empty() ? fmt::format("node{}", position)
                                    : count == 1 ? name
                                                 : fmt::format("{}{}", name, i);
      if (!nodes_by_name.emplace(node_name, NodeId{static_cast<std::uint32_t>(position)}).second) {
        reader.complain(table, fmt::format("two nodes are named '{}'", node_name));
        return reader.status();
      }
      node.name = symbols.intern(node_name);
      node.rack = first_rack + i / per_rack;
      next_rack = std::max(next_rack, node.rack + 1);
      cluster.nodes.push_back(node);
    }
    return Done{};
  }

  Status add_partition(const toml::table& table) {
    TableReader reader(table, file, "[[partitions]]");
    reader.only({"name", "quota"});
    reader.require("name");
    PartitionSpec partition;
    partition.name = symbols.intern(reader.text("name"));
    partition.quota = static_cast<int>(reader.whole("quota", 0, 0, 1 << 30));
    cluster.partitions.push_back(partition);
    return reader.status();
  }

  Status add_change(const toml::table& table) {
    TableReader reader(table, file, "[[changes]]");
    reader.only({"time_s", "node", "joins"});
    for (const std::string_view key : {"time_s", "node", "joins"}) reader.require(key);
    NodeChange change;
    change.time = reader.amount("time_s", 0);
    change.joins = reader.flag("joins", true);
    const toml::node* node = table.get("node");
    if (node != nullptr && node->is_string()) {
      const std::string name = reader.text("node");
      const auto found = nodes_by_name.find(name);
      if (found != nodes_by_name.end()) {
        change.node = found->second;
      } else if (!name.empty()) {
        reader.complain(*node, fmt::format("node in [[changes]]: there is no node '{}'", name));
      }
    } else {
      const auto last = static_cast<long long>(cluster.nodes.size()) - 1;
      change.node =
          NodeId{static_cast<std::uint32_t>(reader.whole("node", 0, 0, std::max(last, 0LL)))};
    }
    cluster.schedule.push_back(change);
    return reader.status();
  }

  // Calls `add` for each table of [[key]].
  Status each(const toml::table& document, std::string_view key,
              Status (Builder::*add)(const toml::table&)) {
    const toml::node* node = document.get(key);
    if (node == nullptr) return Done{};
    const toml::array* tables = node->as_array();
    if (tables == nullptr) return not_tables(*node, key);
    for (const toml::node& entry : *tables) {
      const toml::table* table = entry.as_table();
      if (table == nullptr) return not_tables(entry, key);
      if (const Status added = (this->*add)(*table); !added) return added;
    }
    return Done{};
  }
  Status not_tables(const toml::node& node, std::string_view key) const {
    return Error{fmt::format("{}:{}: '{}' must be a list of tables: [[{}]]", file,
                             node.source().begin.line, key, key)};
  }
};

}  // namespace

Result<ClusterSpec> parse_cluster_toml(std::string_view content, const std::string& name,
                                       Symbols& symbols) {
  const toml::parse_result parsed = toml::parse(content, name);
  if (parsed.failed()) {
    const toml::parse_error& problem = parsed.error();
    return Error{fmt::format("{}:{}:{}: {}", name, problem.source().begin.line,
                             problem.source().begin.column, problem.description())};
  }
  const toml::table& document = parsed.table();
  TableReader reader(document, name, "a cluster file");
  reader.only({"nodes", "partitions", "changes"});
  reader.require("nodes");
  if (const Status read = reader.status(); !read) return read.error();

  Builder builder{name, symbols, {}, {}, 0};
  if (const Status added = builder.each(document, "nodes", &Builder::add_nodes); !added)
    return added.error();
  if (const Status added = builder.each(document, "partitions", &Builder::add_partition); !added) {
    return added.error();
  }
  if (const Status added = builder.each(document, "changes", &Builder::add_change); !added)
    return added.error();
  std::stable_sort(builder.cluster.schedule.begin(), builder.cluster.schedule.end(),
                   [](const NodeChange& a, const NodeChange& b) { return a.time < b.time; });
  return finish_cluster(std::move(builder.cluster), name);
}

Result<ClusterSpec> parse_cluster_json(std::string_view content, const std::string& name,
                                       Symbols& symbols) {
  const nlohmann::json document = nlohmann::json::parse(content, nullptr, false);
  const Error expected{
      fmt::format("{}: expected one cluster as Gavel writes them, {{\"philly\": [\"36:36:36\"]}}; "
                  "legal forms are\n{}",
                  name, cluster_forms())};
  if (!document.is_object() || document.size() != 1) return expected;
  const nlohmann::json& shapes = document.begin().value();
  if (!shapes.is_array() || shapes.size() != 1 || !shapes[0].is_string()) return expected;
  auto cluster = parse_cluster_shape(shapes[0].get_ref<const std::string&>(), symbols);
  if (!cluster) return Error{fmt::format("{}: {}", name, cluster.error().message)};
  return cluster;
}

}  // namespace muster
