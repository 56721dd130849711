#include "run/config/config.h"
#include "workload/cluster_file.h"

namespace muster {

Result<ClusterSpec> make_cluster(const ClusterConfig& config, Symbols& symbols) {
  if (!config.file.empty()) return read_cluster_file(config.file, symbols);
  if (!config.text.empty()) return parse_cluster_text(config.text, "[cluster]", symbols);
  return parse_cluster_shape(config.shape, symbols);
}

}  // namespace muster
