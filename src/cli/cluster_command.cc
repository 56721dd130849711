// `muster cluster convert`: a cluster in any form, as a cluster file.
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/out_file.h"
#include "cli/commands.h"
#include "report/units.h"
#include "run/config/config.h"
#include "workload/byte_input.h"
#include "workload/cluster_file.h"
#include "workload/cluster_slurm.h"

namespace muster {
namespace {

struct ClusterOptions {
  std::string file;
  std::string output;
  std::string partition;
  bool quiet = false;
};

Result<ClusterSpec> read(const ClusterOptions& options, Symbols& symbols) {
  std::error_code ignored;
  if (options.file == "-" || std::filesystem::is_regular_file(options.file, ignored)) {
    const auto content = read_whole(options.file);
    if (!content) return content.error();
    const std::string name = options.file == "-" ? "standard input" : options.file;
    if (is_slurm_nodes(*content)) {
      auto nodes = parse_slurm_nodes(*content, name, options.partition, symbols);
      if (!nodes) return nodes.error();
      for (const std::string& text : nodes->notes) note(text);
      return std::move(nodes->cluster);
    }
    if (options.partition.empty()) return parse_cluster_text(*content, name, symbols);
  }
  if (!options.partition.empty()) {
    return Error{
        fmt::format("--partition chooses among the partitions of Slurm's nodes, and {} is "
                    "not a list of them (`scontrol show node`)",
                    options.file)};
  }
  return read_cluster(options.file, symbols);
}

// "4 nodes and 24 GPUs (8 v100, 16 a100)"
std::string size_text(const ClusterSpec& cluster, const Symbols& symbols) {
  std::map<std::string, int> by_type;
  for (const NodeSpec& node : cluster.nodes) by_type[symbols.text(node.gpu_type)] += node.gpus;
  std::string types;
  for (const auto& [type, gpus] : by_type) {
    if (!type.empty()) types += fmt::format("{}{} {}", types.empty() ? "" : ", ", gpus, type);
  }
  return fmt::format("{} nodes and {} GPUs{}", cluster.nodes.size(),
                     count_text(cluster.total_gpus()),
                     types.empty() ? "" : fmt::format(" ({})", types));
}

int convert(const ClusterOptions& options) {
  Symbols symbols;
  const auto cluster = read(options, symbols);
  if (!cluster) return complain(cluster.error());
  const std::string text = cluster_file_text(*cluster, symbols);
  if (options.output == "-") {
    fmt::print("{}", text);
    return kExitOk;
  }
  if (const Status written = replace_file(options.output, text); !written) {
    return complain(written.error(), kExitFailed);
  }
  if (!options.quiet) {
    fmt::print(stderr, "wrote {} to {}\n", size_text(*cluster, symbols), options.output);
  }
  return kExitOk;
}

}  // namespace

void add_cluster_command(CLI::App& app, Chosen& chosen) {
  CLI::App* cluster = app.add_subcommand("cluster", "Convert descriptions of clusters");
  cluster->require_subcommand(1);
  CLI::App* part =
      cluster->add_subcommand("convert", "Write a cluster file, for example from a running Slurm");
  const auto options = std::make_shared<ClusterOptions>();
  part->add_option("FILE", options->file,
                   "what `scontrol show node` wrote, or any cluster that --cluster takes; - reads "
                   "standard input")
      ->required();
  part->add_option("OUTPUT", options->output, "the cluster file (TOML) to write, or -")->required();
  part->add_option("-p,--partition", options->partition,
                   "only the nodes of this partition of Slurm's");
  part->add_flag("-q,--quiet", options->quiet, "do not say what was written");
  part->callback([options, &chosen] { chosen.run = [options] { return convert(*options); }; });
  cluster->footer(
      "Examples:\n"
      "  scontrol show node | muster cluster convert - cluster.toml\n"
      "  scontrol show node | muster cluster convert - gpu.toml --partition gpu\n"
      "  muster cluster convert 16x8:v100,4x8:a100 cluster.toml");
}

}  // namespace muster
