#include "run/whatif/change.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "run/config/choice.h"
#include "workload/cluster_file.h"

namespace muster {
namespace {

Status add_nodes(const std::string& shape, Symbols& symbols, EngineWorld& world,
                 OutlookParts& parts) {
  auto more = parse_cluster_shape(shape, symbols);
  if (!more) return Error{"--add-nodes " + more.error().message};
  auto cluster = std::make_shared<ClusterSpec>(*parts.cluster);
  for (const NodeSpec& node : more->nodes) {
    const NodeId id{static_cast<std::uint32_t>(cluster->nodes.size())};
    cluster->nodes.push_back(node);
    world.nodes.push_back({id, true, false, false, 0});
  }
  parts.cluster = std::move(cluster);
  parts.running = nullptr;  // it has other nodes
  return Done{};
}

// Whether the node is one of those that are meant by "rack=1" and the like.
bool meant(std::string_view key, std::string_view value, std::size_t number, const NodeSpec& node,
           const Symbols& symbols) {
  if (key == "partition") return symbols.text(node.partition) == value;
  if (key == "node" && !value.empty()) {
    const std::string& name = symbols.text(node.name);
    if (value == name || (name.empty() && value == fmt::format("node{}", number))) return true;
  }
  const auto wanted = parse_integer(value);
  if (!wanted) return false;
  return *wanted == (key == "rack" ? node.rack : static_cast<long long>(number));
}

Status drain(const std::string& text, const Symbols& symbols, EngineWorld& world,
             const ClusterSpec& cluster) {
  const std::size_t equals = text.find('=');
  const std::string_view key = std::string_view(text).substr(0, equals);
  const bool known = key == "node" || key == "rack" || key == "partition";
  if (equals == std::string::npos || !known) {
    return Error{fmt::format("--drain {}: expected node=N, rack=N or partition=NAME", text)};
  }
  const std::string_view value = std::string_view(text).substr(equals + 1);
  bool any = false;
  for (WorldNode& node : world.nodes) {
    const std::size_t number = index(node.node);
    if (!meant(key, value, number, cluster.nodes[number], symbols)) continue;
    node.drained = true;
    any = true;
  }
  if (any) return Done{};
  return Error{fmt::format("--drain {}: the cluster of {} nodes has no such {}", text,
                           cluster.nodes.size(), key)};
}

Status submit(const std::string& text, Symbols& symbols, EngineWorld& world) {
  const auto choice = parse_choice("job:" + text, "--submit");
  if (!choice) return choice.error();
  static const ParamList kParams = {
      {"gpus", ParamKind::kInteger, "1", "GPUs asked for", 1, 1e6},
      {"duration", ParamKind::kReal, "3600", "seconds that it is believed to run", 1e-3},
      {"name", ParamKind::kText, "new", "what to call it"},
      {"partition", ParamKind::kText, "", "where it may run; empty: on open nodes"},
      {"gpu_type", ParamKind::kText, "", "on which GPUs; empty: any"},
      {"priority", ParamKind::kInteger, "0", "larger is more important"},
      {"deadline", ParamKind::kReal, "inf", "seconds from now"},
  };
  const auto params = Params::make("--submit", kParams, choice->params);
  if (!params) return params.error();
  Job job;
  job.spec.id = JobId{world.next_id++};
  job.spec.submit = job.spec.arrival = world.now;
  job.spec.gpus = static_cast<int>(params->integer("gpus"));
  job.spec.duration = job.spec.estimate = params->real("duration");
  job.spec.believed = true;
  job.spec.name = params->text("name");
  job.spec.priority = static_cast<int>(params->integer("priority"));
  job.spec.deadline = world.now + params->real("deadline");
  if (const std::string& name = params->text("partition"); !name.empty()) {
    job.spec.partition = symbols.intern(name);
  }
  if (const std::string& name = params->text("gpu_type"); !name.empty()) {
    job.spec.gpu_type = symbols.intern(name);
  }
  job.total_work = job.spec.duration;
  job.waiting_since = world.now;
  world.jobs.push_back(std::move(job));
  return Done{};
}

}  // namespace

Status apply_change(const Change& change, Symbols& symbols, EngineWorld& world,
                    OutlookParts& parts) {
  if (parts.running != nullptr) parts.active = parts.running->state().active;
  if (!change.add_nodes.empty()) {
    if (Status done = add_nodes(change.add_nodes, symbols, world, parts); !done) return done;
  }
  for (const std::string& text : change.drain) {
    if (Status done = drain(text, symbols, world, *parts.cluster); !done) return done;
  }
  parts.newcomers_from = std::min(parts.newcomers_from, JobId{world.next_id});
  for (const std::string& text : change.submit) {
    if (Status done = submit(text, symbols, world); !done) return done;
  }
  if (!change.policy_sets.empty()) {
    if (change.policy_sets.size() != parts.policy_sets.size()) {
      parts.selector = nullptr;
      parts.active = 0;
    }
    parts.policy_sets = change.policy_sets;
    parts.running = nullptr;  // it has other policies
  }
  return Done{};
}

Seconds drained_at(const EngineWorld& world, const Outlook& outlook) {
  std::vector<bool> drained;
  for (const WorldNode& node : world.nodes) {
    drained.resize(std::max(drained.size(), index(node.node) + 1), false);
    drained[index(node.node)] = node.drained;
  }
  if (std::find(drained.begin(), drained.end(), true) == drained.end()) return kNever;
  Seconds last = world.now;
  for (std::size_t i = 0; i < world.jobs.size(); ++i) {
    const GpuSet& gpus = world.jobs[i].gpus;
    for (int part = 0; part < gpus.nodes(); ++part) {
      if (drained[index(gpus[part].node)]) last = std::max(last, outlook.jobs[i].end.believed);
    }
  }
  return last;
}

}  // namespace muster
