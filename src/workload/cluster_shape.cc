// The short texts for clusters: "32x4", "16x8:v100,4x8:a100", "36:36:36", "v100=36,p100=36@4".
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "workload/cluster_file.h"
#include "workload/cluster_parts.h"
#include "workload/numbers.h"

namespace muster {
namespace {

Error bad_shape(std::string_view shape, std::string_view part, std::string_view expected) {
  return Error{fmt::format("cluster '{}': found '{}', expected {}; legal forms are\n{}", shape,
                           part, expected, cluster_forms())};
}

// Only digits: "4.0" or "+4" is not how anybody writes a node count.
bool read_count(std::string_view text, int most, int& value) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) return false;
  return read_whole_number(text, value) && value <= most;
}

// One group of "16x8:v100".
Status add_group(std::string_view shape, std::string_view group, Symbols& symbols,
                 ClusterSpec& cluster) {
  const std::size_t colon = group.find(':');
  const std::string_view size = group.substr(0, colon);
  const std::size_t cross = size.find('x');
  int count = 0;
  NodeSpec node;
  if (cross == std::string_view::npos || !read_count(size.substr(0, cross), kMostNodes, count) ||
      count == 0 || !read_count(size.substr(cross + 1), 1 << 16, node.gpus)) {
    return bad_shape(shape, group, "NODESxGPUS with 1 to 1048576 nodes, as in 32x4");
  }
  if (colon != std::string_view::npos) {
    const std::string_view type = group.substr(colon + 1);
    if (type.empty() || type.find(':') != std::string_view::npos) {
      return bad_shape(shape, group, "a GPU type behind ':', as in 32x4:v100");
    }
    node.gpu_type = symbols.intern(type);
  }
  append_nodes(cluster, node, count, symbols);
  return Done{};
}

// `gpus` GPUs of a type in servers of `per_server`; a smaller server holds the remainder.
void add_servers(std::string_view type, int gpus, int per_server, Symbols& symbols,
                 ClusterSpec& cluster) {
  NodeSpec node;
  node.gpu_type = symbols.intern(type);
  node.gpus = per_server;
  append_nodes(cluster, node, gpus / per_server, symbols);
  node.gpus = gpus % per_server;
  if (node.gpus > 0) append_nodes(cluster, node, 1, symbols);
}

struct TypeCount {
  std::string_view type;
  std::string_view count;
};

// Gavel's counts by type, with the sizes of the servers behind '@': one for all, or one per type.
Result<ClusterSpec> counts_by_type(std::string_view shape, const std::vector<TypeCount>& counts,
                                   std::string_view servers, Symbols& symbols) {
  const std::vector<std::string_view> sizes = split(servers, ':');
  if (sizes.size() != 1 && sizes.size() != counts.size()) {
    return bad_shape(shape, servers, "one server size, or as many as there are GPU types");
  }
  ClusterSpec cluster;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    int gpus = 0;
    int per_server = 1;
    if (!read_count(counts[i].count, kMostNodes, gpus)) {
      return bad_shape(shape, counts[i].count, "a number of GPUs");
    }
    const std::string_view size = sizes.size() == 1 ? sizes[0] : sizes[i];
    if (!read_count(size, 1 << 16, per_server) || per_server == 0) {
      return bad_shape(shape, size, "a number of GPUs per server");
    }
    add_servers(counts[i].type, gpus, per_server, symbols, cluster);
  }
  return finish_cluster(std::move(cluster), fmt::format("cluster '{}'", shape));
}

}  // namespace

Result<ClusterSpec> parse_cluster_shape(std::string_view shape, Symbols& symbols) {
  const std::size_t at = shape.find('@');
  const std::string_view body = shape.substr(0, at);
  const std::string_view servers = at == std::string_view::npos ? "1" : shape.substr(at + 1);
  const std::vector<std::string_view> groups = split(body, ',');
  if (body.find('=') != std::string_view::npos) {
    std::vector<TypeCount> counts;
    for (const std::string_view group : groups) {
      const std::size_t equals = group.find('=');
      if (equals == std::string_view::npos || equals == 0) {
        return bad_shape(shape, group, "TYPE=GPUS, as in v100=36");
      }
      counts.push_back({group.substr(0, equals), group.substr(equals + 1)});
    }
    return counts_by_type(shape, counts, servers, symbols);
  }
  if (body.find('x') == std::string_view::npos && body.find(':') != std::string_view::npos) {
    const std::vector<std::string_view> numbers = split(body, ':');
    if (numbers.size() != 3) {
      return bad_shape(shape, body, "three counts, of V100, P100 and K80 GPUs, as in 36:36:36");
    }
    return counts_by_type(shape, {{"v100", numbers[0]}, {"p100", numbers[1]}, {"k80", numbers[2]}},
                          servers, symbols);
  }
  if (at != std::string_view::npos) return bad_shape(shape, shape, "no '@' in the form NODESxGPUS");
  ClusterSpec cluster;
  for (const std::string_view group : groups) {
    if (const Status added = add_group(shape, group, symbols, cluster); !added)
      return added.error();
    if (cluster.nodes.size() > static_cast<std::size_t>(kMostNodes)) {
      return bad_shape(shape, group, "1048576 nodes at most");
    }
  }
  return finish_cluster(std::move(cluster), fmt::format("cluster '{}'", shape));
}

}  // namespace muster
