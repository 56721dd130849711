// Clusters as nodes, and what can be chosen for a run.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "core/convert.h"
#include "core/parts.h"
#include "run/config/declarations.h"
#include "run/config/plugins.h"
#include "run/config/share_folder.h"
#include "workload/cluster_file.h"

namespace muster::python {
namespace {

nb::list nodes_of(const ClusterSpec& cluster, const Symbols& symbols) {
  nb::list nodes;
  for (const NodeSpec& node : cluster.nodes) {
    nb::dict one;
    one["name"] = symbols.text(node.name);
    one["gpus"] = node.gpus;
    one["gpu_type"] = symbols.text(node.gpu_type);
    one["partition"] = symbols.text(node.partition);
    one["cpus"] = node.cpus;
    one["memory_gb"] = node.memory_gb;
    one["rack"] = node.rack;
    nodes.append(one);
  }
  return nodes;
}

nb::list nodes_of_tables(nb::handle tables) {
  Symbols symbols;
  const std::string text = toml_document(toml_of(tables, "cluster"));
  const ClusterSpec cluster = must(parse_cluster_text(text, "cluster", symbols));
  return nodes_of(cluster, symbols);
}

nb::list nodes_of_shape(const std::string& text) {
  Symbols symbols;
  const ClusterSpec cluster = must(read_cluster(text, symbols));
  return nodes_of(cluster, symbols);
}

nb::list plugins(const std::string& key) {
  nb::list list;
  for (const PluginKind& kind : plugin_kinds()) {
    if (!key.empty() && kind.key != key) continue;
    for (const PluginRow& row : kind.rows) {
      nb::dict one;
      one["kind"] = std::string(kind.key);
      one["name"] = std::string(row.name);
      one["sentence"] = std::string(row.sentence);
      one["source"] = std::string(row.source);
      nb::dict params;
      for (const ParamInfo& info : *row.params) {
        params[std::string(info.name).c_str()] =
            nb::make_tuple(std::string(info.initial), std::string(info.sentence));
      }
      one["parameters"] = params;
      list.append(one);
    }
  }
  return list;
}

}  // namespace

void add_clusters(nb::module_& module) {
  module.def("nodes_of_tables", nodes_of_tables);
  module.def("nodes_of_shape", nodes_of_shape);
  module.def("plugins", plugins);
  module.def("shared_files", [](const std::string& kind) { return shared_files(kind); });
  module.def("shared_folders", [](const std::string& kind) { return shared_folders(kind); });
}

}  // namespace muster::python
