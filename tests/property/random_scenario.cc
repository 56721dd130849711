#include "property/random_scenario.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/random.h"
#include "perf/perf_model.h"
#include "run/config/plugin_tables.h"

namespace muster {
namespace {

template <typename Row>
Choice any_row(const std::vector<Row>& table, Random& random) {
  const Row& row = table[random.below(table.size())];
  Choice choice{std::string(row.name)};
  for (const ParamInfo& info : row.params) {
    if (info.kind == ParamKind::kFlag && random.chance(0.5)) {
      choice.params[std::string(info.name)] = random.chance(0.5) ? "true" : "false";
    }
    if (!info.choices.empty() && random.chance(0.5)) {
      choice.params[std::string(info.name)] =
          std::string(info.choices[random.below(info.choices.size())]);
    }
    if (info.name == "boost_after" && random.chance(0.4)) {
      choice.params["boost_after"] = std::to_string(random.integer(0, 200));
    }
  }
  // As Gavel's code has them, some give jobs a type that has no room for them: such runs need not
  // end.
  if (choice.name == "gavel-as-coded") choice.params.erase("policy");
  return choice;
}

ClusterSpec any_cluster(Symbols& symbols, Random& random) {
  ClusterSpec cluster;
  const auto types = random.integer(1, 3);
  const auto partitions = random.chance(0.5) ? 0 : random.integer(1, 3);
  const auto nodes = random.integer(1, 10);
  for (std::int64_t i = 0; i < nodes; ++i) {
    NodeSpec node;
    node.gpus = static_cast<int>(random.chance(0.05) ? 0 : random.integer(1, 8));
    if (types > 1) {
      node.gpu_type = symbols.intern(fmt::format("type{}", random.integer(1, types)));
    }
    if (partitions > 0 && random.chance(0.6)) {
      node.partition = symbols.intern(fmt::format("part{}", random.integer(1, partitions)));
    }
    if (random.chance(0.5)) node.cpus = static_cast<double>(random.integer(1, 32));
    if (random.chance(0.5)) node.memory_gb = static_cast<double>(random.integer(8, 512));
    node.rack = static_cast<int>(random.integer(0, 2));
    cluster.nodes.push_back(node);
  }
  cluster.nodes[0].gpus = std::max(1, cluster.nodes[0].gpus);
  for (std::int64_t i = 1; i <= partitions; ++i) {
    const int quota = random.chance(0.5) ? 0 : static_cast<int>(random.integer(1, 10));
    cluster.partitions.push_back({symbols.intern(fmt::format("part{}", i)), quota});
  }
  Seconds time = 0;
  const auto changes = random.chance(0.5) ? 0 : random.integer(1, 6);
  for (std::int64_t i = 0; i < changes; ++i) {
    time += random.uniform(0, 200);
    const auto node = static_cast<std::uint32_t>(random.below(cluster.nodes.size()));
    cluster.schedule.push_back({time, NodeId{node}, random.chance(0.5)});
  }
  return cluster;
}

JobSpec any_job(Seconds arrival, const ClusterSpec& cluster, Symbols& symbols, Random& random) {
  JobSpec job = job_of(arrival, random.chance(0.05) ? 0 : random.log_uniform(-1, 2.3),
                       static_cast<int>(random.integer(1, random.chance(0.8) ? 4 : 20)));
  // Many systems hear of a job later than it was submitted.
  if (random.chance(0.1)) job.submit = std::max(0.0, arrival - random.uniform(0, 30));
  if (random.chance(0.3)) {
    job.min_gpus = static_cast<int>(random.integer(0, job.gpus));
    job.max_gpus = job.gpus + static_cast<int>(random.integer(0, 4));
  }
  if (random.chance(0.3)) job.estimate = job.duration * random.uniform(0.2, 3);
  if (random.chance(0.2)) job.deadline = job.submit + random.uniform(0, 500);
  // With a hundredth of a core and speeds by cores, a job would take years.
  if (random.chance(0.3)) job.cpus = std::max(0.2, random.uniform(0, 4)) * job.gpus;
  if (random.chance(0.3)) job.memory_gb = random.uniform(0, 32) * job.gpus;
  job.priority = static_cast<int>(random.integer(-1, 3));
  const char* models[] = {"", "res50", "lstm", "alexnet", "gnmt"};
  job.model = symbols.intern(models[random.below(5)]);
  if (!cluster.partitions.empty() && random.chance(0.6)) {
    job.partition = symbols.intern(fmt::format("part{}", random.integer(1, 4)));
  }
  if (random.chance(0.2))
    job.gpu_type = symbols.intern(fmt::format("type{}", random.integer(1, 3)));
  return job;
}

}  // namespace

Scenario random_scenario(std::uint64_t seed) {
  Random random(seed, "scenario");
  Scenario scenario;
  Symbols& symbols = *scenario.symbols;
  scenario.cluster = any_cluster(symbols, random);
  const auto jobs = random.integer(1, 80);
  const double gap = random.log_uniform(-0.5, 1.8);
  Seconds arrival = random.uniform(0, 50);
  for (std::int64_t i = 0; i < jobs; ++i) {
    if (random.chance(0.8)) arrival += random.exponential(gap);
    scenario.jobs.push_back(any_job(arrival, scenario.cluster, symbols, random));
  }
  scenario.scheduling = any_row(general_policies(), random);
  scenario.placement = any_row(plugin_tables().placement, random);
  scenario.admission = any_row(plugin_tables().admission, random);
  scenario.pacing = any_row(plugin_tables().pacing, random);
  if (make_pacing(scenario.pacing)->length() > 0) {
    const char* lengths[] = {"2.3", "7", "60"};
    scenario.pacing.params["length"] = lengths[random.below(3)];
  }
  while (random.chance(0.5)) scenario.perf.push_back(any_row(models_without_files(), random));
  // Less than the shortest turn, or jobs that take turns would never get on.
  scenario.cost.first_start = random.chance(0.5) ? 0 : random.uniform(0, 5);
  scenario.cost.restart = random.chance(0.5) ? 0 : random.uniform(0, 2);
  scenario.cost.checkpoint_interval = random.chance(0.5) ? 0 : random.uniform(1, 50);
  // A stop that saves nothing, under a policy that rotates jobs faster than they save, is a run
  // without end.
  const bool may_lose = scenario.cost.checkpoint_interval < 4;
  scenario.cost.stop_saves = random.chance(0.7) || !may_lose;
  if (random.chance(0.4)) {
    scenario.failures.node_mtbf = random.log_uniform(2, 4);
    scenario.failures.node_repair = random.uniform(1, 100);
  }
  if (random.chance(0.3)) {
    scenario.failures.gpu_mtbf = random.log_uniform(2, 4);
    scenario.failures.gpu_repair = random.uniform(1, 100);
  }
  scenario.failures.seed = seed;
  // Jobs that crash by themselves: the slots are those of a short trace, so some hit.
  scenario.options.max_crashes = static_cast<int>(random.integer(0, 3));
  Seconds crash = 0;
  while (random.chance(0.7)) {
    crash += random.exponential(30);
    JobEvent event;
    event.time = crash;
    event.kind = EventKind::kFailed;
    event.slot = Slot{static_cast<std::uint32_t>(random.below(6))};
    event.job = JobId{static_cast<std::uint32_t>(random.below(12))};
    scenario.injected.push_back(event);
  }
  return scenario;
}

std::string describe(const Scenario& scenario) {
  const auto text = [](const Choice& choice) {
    std::string result = choice.name;
    for (const auto& [name, value] : choice.params) result += fmt::format(" {}={}", name, value);
    return result;
  };
  std::string perf;
  for (const Choice& choice : scenario.perf) perf += text(choice) + "; ";
  return fmt::format(
      "{} nodes, {} GPUs, {} changes, {} jobs, {} | {} | {} | {} | {}restart {} s, node mtbf {} s",
      scenario.cluster.nodes.size(), scenario.cluster.total_gpus(),
      scenario.cluster.schedule.size(), scenario.jobs.size(), text(scenario.pacing),
      text(scenario.admission), text(scenario.scheduling), text(scenario.placement), perf,
      scenario.cost.restart, scenario.failures.node_mtbf);
}

}  // namespace muster
