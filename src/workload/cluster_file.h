// Clusters as users write them: a short text, or a file.
//
//   32x4                      32 nodes of 4 GPUs
//   16x8:v100,4x8:a100        groups of nodes with their GPU types
//   36:36:36                  Gavel: numbers of V100, P100 and K80 GPUs, in servers of one GPU
//   36:36:36@4:2:2            the same in servers of 4, 2 and 2 GPUs
//   v100=36,p100=36@4         the same with the types named
//   cluster.toml              every detail (docs/trace-formats.md has the schema)
//   cluster.csv               cluster files of Tiresias, Muri and ElasticFlow, Lucid's vc_config,
//                             the openb node list
//   cluster.json              Gavel's cluster_specs
//   nodes.txt                 what `scontrol show node` or sinfo wrote (workload/cluster_slurm.h)
//
// Every function returns a cluster that validate() accepts.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/symbols.h"
#include "model/cluster_spec.h"

namespace muster {

// A short text or the path of a file; the form of the text decides which.
Result<ClusterSpec> read_cluster(const std::string& text, Symbols& symbols);

Result<ClusterSpec> parse_cluster_shape(std::string_view shape, Symbols& symbols);
Result<ClusterSpec> read_cluster_file(const std::string& path, Symbols& symbols);
// The content of a file; its form is recognised. `name` stands for the file in messages.
Result<ClusterSpec> parse_cluster_text(std::string_view content, const std::string& name,
                                       Symbols& symbols);

// The legal short texts and files, one per line, for help and messages.
std::string_view cluster_forms();

}  // namespace muster
