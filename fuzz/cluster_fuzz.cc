// Feeds any text to the readers of clusters, as a short text and as the content of a file.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "model/cluster_spec.h"
#include "workload/cluster_file.h"

namespace {

void check(const muster::Result<muster::ClusterSpec>& cluster) {
  const bool fine = cluster
                        ? static_cast<bool>(muster::validate(*cluster)) && cluster->total_gpus() > 0
                        : !cluster.error().message.empty();
  if (fine) return;
  std::fprintf(stderr, "broken promise: a cluster is valid, an error says something\n");
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  muster::Symbols symbols;
  check(muster::parse_cluster_shape(text, symbols));
  check(muster::parse_cluster_text(text, "input", symbols));
  return 0;
}
