#include "backend/slurm/constraints.h"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "backend/slurm/command.h"
#include "backend/slurm/found_job.h"
#include "backend/slurm/hostlist.h"
#include "base/text.h"

namespace muster {
namespace {

using Hosts = std::vector<NodeId>;  // in order

constexpr std::string_view kByHand = "; `scontrol release` leaves it to Slurm";

// All of a&b, one of a|b. Empty: the expression says more than that.
std::optional<bool> has_features(const SlurmHost& host, const std::string& wanted) {
  if (wanted.find_first_of("[]()*!:") != std::string::npos) return std::nullopt;
  const bool any = wanted.find('|') != std::string::npos;
  if (any && wanted.find_first_of("&,") != std::string::npos) return std::nullopt;
  const std::vector<std::string_view> there = split(host.features, ',');
  std::string list = wanted;
  std::replace(list.begin(), list.end(), any ? '|' : '&', ',');
  for (const std::string_view one : split(list, ',')) {
    const bool found = std::find(there.begin(), there.end(), trim(one)) != there.end();
    if (found == any) return any;
  }
  return !any;
}

// The nodes of the partition that its constraints leave.
Result<Hosts> hosts_left(const SlurmJob& job, const SlurmCluster& cluster,
                         std::string_view partition) {
  const auto required = expand_hostlist(job.required);
  const auto excluded = expand_hostlist(job.excluded);
  if (!required || !excluded) return Error{"its list of nodes (-w, -x) cannot be read"};
  const std::set<std::string> only(required->begin(), required->end());
  const std::set<std::string> without(excluded->begin(), excluded->end());
  const std::string type = gpu_type_wanted(job);
  Hosts hosts;
  for (std::size_t i = 0; i < cluster.hosts().size(); ++i) {
    const SlurmHost& host = cluster.hosts()[i];
    if (host.partition != partition || without.contains(host.name)) continue;
    if (!only.empty() && !only.contains(host.name)) continue;
    if (!type.empty() && host.gpu_type != type) continue;
    if (!job.features.empty()) {
      const auto has = has_features(host, job.features);
      if (!has) {
        return Error{fmt::format("its constraint '{}' is more than features joined by & or by |",
                                 complaint(job.features))};
      }
      if (!*has) continue;
    }
    hosts.push_back(NodeId{static_cast<std::uint32_t>(i)});
  }
  return hosts;
}

// Whether the hosts are all of the partition, or all with one type of GPU: the type, or empty.
std::optional<std::string> as_type(const Hosts& hosts, const SlurmCluster& cluster,
                                   std::string_view partition) {
  if (hosts.empty()) return std::nullopt;
  const auto count = [&](const auto& counts) {
    return static_cast<std::size_t>(
        std::count_if(cluster.hosts().begin(), cluster.hosts().end(), counts));
  };
  if (count([&](const SlurmHost& host) { return host.partition == partition; }) == hosts.size()) {
    return "";
  }
  const std::string& type = cluster.host(hosts[0]).gpu_type;
  const bool same = !type.empty() && std::all_of(hosts.begin(), hosts.end(), [&](NodeId node) {
    return cluster.host(node).gpu_type == type;
  });
  const std::size_t of_type = count(
      [&](const SlurmHost& host) { return host.partition == partition && host.gpu_type == type; });
  return same && of_type == hosts.size() ? std::optional(type) : std::nullopt;
}

std::string words_for_nodes(const SlurmJob& job) {
  std::string words;
  for (const auto& [option, value] :
       {std::pair("-C", &job.features), {"-w", &job.required}, {"-x", &job.excluded}}) {
    if (!value->empty()) words += fmt::format("{}{} {}", words.empty() ? "" : " ", option, *value);
  }
  return complaint(words);
}

NodeConstraints constraints_in(const SlurmJob& job, const SlurmCluster& cluster,
                               std::string_view partition) {
  NodeConstraints constraints;
  constraints.partition = std::string(partition);
  const Result<Hosts> left = hosts_left(job, cluster, partition);
  if (!left) {
    constraints.unfit = left.error().message + std::string(kByHand);
    return constraints;
  }
  const int gpus = gpus_wanted(job);
  const auto required = expand_hostlist(job.required);
  const int named = required ? static_cast<int>(required->size()) : 0;
  const bool said = job.max_nodes > 0 || job.tasks_per_node > 0;
  const int nodes = std::max(said ? job.nodes_wanted : 1, named);
  constraints.max_nodes = job.max_nodes > 0 ? job.max_nodes : said ? nodes : 0;
  // On one node: it must be large enough. On several: they must be taken as a whole, since nothing
  // else says to a policy that a job is to be spread.
  Hosts large;
  for (const NodeId node : *left) {
    const int most = cluster.host(node).gpus;
    if (nodes > 1 ? most * nodes >= gpus : constraints.max_nodes != 1 || most >= gpus) {
      large.push_back(node);
    }
  }
  auto type = as_type(large, cluster, partition);
  if (!type && nodes == 1) type = as_type(*left, cluster, partition);
  // A type or a partition without nodes is refused by the caller, which knows them all.
  if (left->empty() && words_for_nodes(job).empty()) return constraints;
  if (!type && left->empty()) {
    constraints.unfit =
        fmt::format("no node of {} has what it asks for ({})", partition, words_for_nodes(job));
    return constraints;
  }
  if (!type) {
    constraints.unfit = fmt::format(
        "it asks for some nodes of {} ({}), and a policy chooses among all "
        "of them, or all with one type of GPU{}",
        partition, words_for_nodes(job), kByHand);
    return constraints;
  }
  constraints.gpu_type = *type;
  if (nodes == 1) return constraints;
  for (const NodeId node : large) {
    if (cluster.host(node).gpus * nodes == gpus) continue;
    constraints.unfit = fmt::format(
        "it asks for {} GPUs on {} nodes (-N, --ntasks-per-node, -w), and "
        "whole nodes would have {}: a policy puts it together on fewer{}",
        gpus, nodes, cluster.host(node).gpus * nodes, kByHand);
    break;
  }
  return constraints;
}

}  // namespace

NodeConstraints node_constraints(const SlurmJob& job, const SlurmCluster& cluster,
                                 const std::function<int(NodeId)>& free) {
  NodeConstraints best;
  int most = -1;
  for (const std::string_view partition : split(job.partition, ',')) {
    const NodeConstraints one = constraints_in(job, cluster, partition);
    if (!one.unfit.empty()) {
      if (most < 0 && best.unfit.empty()) best = one;
      continue;
    }
    int there = 0;
    int all = 0;
    for (std::size_t i = 0; i < cluster.hosts().size(); ++i) {
      const SlurmHost& host = cluster.hosts()[i];
      if (host.partition != partition) continue;
      if (!one.gpu_type.empty() && host.gpu_type != one.gpu_type) continue;
      there += free(NodeId{static_cast<std::uint32_t>(i)});
      all += host.gpus;
    }
    // One in which it could never run is the last choice.
    if (all < gpus_wanted(job)) there = 0;
    if (there > most) {
      most = there;
      best = one;
    }
  }
  return best;
}

}  // namespace muster
