// What the readers of the single forms of cluster files share.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/symbols.h"
#include "model/cluster_spec.h"

namespace muster {

inline constexpr int kMostNodes = 1 << 20;

// Appends `count` nodes like `node`, named node0, node1, ... by their position where it has no
// name.
void append_nodes(ClusterSpec& cluster, const NodeSpec& node, int count, Symbols& symbols);

// Declares the partitions that nodes name and the list lacks, in order of appearance; then
// validates.
Result<ClusterSpec> finish_cluster(ClusterSpec cluster, const std::string& name);

Result<ClusterSpec> parse_cluster_toml(std::string_view content, const std::string& name,
                                       Symbols& symbols);
Result<ClusterSpec> parse_cluster_json(std::string_view content, const std::string& name,
                                       Symbols& symbols);

}  // namespace muster
