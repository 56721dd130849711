#include "run/assembly/profiler_parts.h"

#include <algorithm>

#include "model/truth.h"
#include "run/config/plugin_tables.h"

namespace muster {
namespace {

Result<PolicySet> fewest_gpus_first() {
  auto admit = make_from("admission policy", plugin_tables().admission, "accept-all", {});
  if (!admit) return admit.error();
  auto order = make_from("scheduling policy", plugin_tables().scheduling, "least-gpus", {});
  if (!order) return order.error();
  auto place = make_from("placement policy", plugin_tables().placement, "whole-nodes", {});
  if (!place) return place.error();
  return PolicySet{std::move(*admit), std::move(*order), std::move(*place)};
}

}  // namespace

int largest_profiled(const ProfilingSettings& settings) {
  return std::min(settings.largest, settings.nodes * settings.gpus_per_node);
}

Result<Engine::Parts> profiler_parts(const ProfilingSettings& settings,
                                     const Engine::Parts& usual) {
  auto policies = fewest_gpus_first();
  if (!policies) return policies.error();
  Engine::Parts parts;
  parts.pacing = usual.pacing->clone();
  parts.policy_sets.push_back(std::move(*policies));
  if (settings.borrow) parts.scaling = make_profiler_scaling(settings.scaling);
  parts.forecast = usual.forecast;
  parts.prices = usual.prices;
  return parts;
}

JobSpec as_profiled(const JobSpec& job, Seconds limit) {
  JobSpec part = job;
  part.partition = kNoSymbol;
  part.duration = std::min(true_duration(job), limit);
  part.believed = false;
  part.truth = {};
  return part;
}

ClusterSpec profiler_cluster(const ProfilingSettings& settings) {
  ClusterSpec cluster = uniform_cluster(settings.nodes, settings.gpus_per_node);
  if (!settings.borrow) return cluster;
  NodeSpec spare;
  spare.gpus = settings.gpus_per_node;
  spare.spare = true;
  cluster.nodes.push_back(spare);
  return cluster;
}

Result<ClusterSpec> without_profiler(const ClusterSpec& cluster, const ProfilingSettings& settings,
                                     const std::vector<ScalingEvent>& events) {
  ClusterSpec left = cluster;
  for (const Symbol donor : settings.donors) {
    const auto last =
        std::find_if(left.nodes.rbegin(), left.nodes.rend(),
                     [donor](const NodeSpec& node) { return node.partition == donor; });
    if (last == left.nodes.rend()) {
      return Error{"profiling: a donor has no node left to give; name another virtual cluster"};
    }
    left.nodes.erase(std::next(last).base());
  }
  if (!left.schedule.empty() && !settings.donors.empty()) {
    return Error{"profiling: donors cannot be combined with a schedule of nodes"};
  }
  if (settings.lender == kNoSymbol) return left;
  for (const ScalingEvent& event : events) {
    if (event.borrowed) continue;
    NodeSpec spare;
    spare.partition = settings.lender;
    spare.gpus = settings.gpus_per_node;
    spare.spare = true;
    left.nodes.push_back(spare);
  }
  return left;
}

}  // namespace muster
