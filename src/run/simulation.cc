#include "run/simulation.h"

#include <utility>

#include "base/table_lookup.h"
#include "perf/models.h"
#include "policy/table.h"
#include "run/plugins.h"

namespace muster {
namespace {

template <typename Table>
auto made(std::string_view kind, const Table& table, const Choice& choice) {
  return make_from(plugin_kind(kind).noun, table, choice.name, choice.params);
}

Result<std::shared_ptr<const PerfModel>> make_perf(const std::vector<Choice>& choices,
                                                   Symbols& symbols) {
  std::vector<std::unique_ptr<PerfModel>> models;
  for (const Choice& choice : choices) {
    const auto row = find_row(plugin_kind("perf").noun, perf_table(), choice.name);
    if (!row) return row.error();
    const auto params =
        Params::make("performance model '" + choice.name + "'", (*row)->params, choice.params);
    if (!params) return params.error();
    auto model = (*row)->make(*params, symbols);
    if (!model) return model.error();
    models.push_back(std::move(*model));
  }
  return std::shared_ptr<const PerfModel>(multiply(std::move(models)));
}

std::shared_ptr<const RestartCost> make_cost(const RestartConfig& config, Symbols& symbols) {
  auto cost = std::make_shared<RestartCost>();
  cost->first_start = config.first_start;
  cost->restart = config.restart;
  cost->checkpoint_interval = config.checkpoint_interval;
  cost->stop_saves = config.stop_saves;
  for (const RestartRow& row : config.table) {
    cost->by_model[{symbols.intern(row.model), static_cast<int>(row.gpus)}] = row.seconds;
  }
  return cost;
}

Result<Combination> make_combination(const Choice& admission, const Choice& scheduling,
                                     const Choice& placement) {
  auto first = made("admission", admission_table(), admission);
  if (!first) return first.error();
  auto second = made("scheduling", scheduling_table(), scheduling);
  if (!second) return second.error();
  auto third = made("placement", placement_table(), placement);
  if (!third) return third.error();
  return Combination{std::move(*first), std::move(*second), std::move(*third)};
}

}  // namespace

Status Simulation::add_policies(const RunConfig& config) {
  auto pacing = made("pacing", pacing_table(), config.pacing);
  if (!pacing) return pacing.error();
  parts_.pacing = std::move(*pacing);
  std::vector<CombinationConfig> combinations = config.combinations;
  if (combinations.empty()) {
    combinations.push_back({config.admission, config.scheduling, config.placement});
  }
  for (const CombinationConfig& choice : combinations) {
    auto combination = make_combination(choice.admission, choice.scheduling, choice.placement);
    if (!combination) return combination.error();
    parts_.combinations.push_back(std::move(*combination));
  }
  if (!config.selector.empty()) {
    auto selector = made("selector", selector_table(), config.selector);
    if (!selector) return selector.error();
    parts_.selector = std::move(*selector);
  }
  return Done{};
}

Result<std::unique_ptr<Simulation>> Simulation::make(const RunConfig& config,
                                                     std::shared_ptr<const SharedJobs> jobs) {
  std::unique_ptr<Simulation> simulation(new Simulation);
  Simulation& self = *simulation;
  if (jobs != nullptr) {
    self.symbols_ = Symbols(jobs->symbols);
    self.expected_ = jobs->jobs.size();
    self.source_ = std::make_unique<ListSource>(jobs->jobs);
    self.jobs_ = std::move(jobs);
  } else {
    auto opened = open_jobs(config.workload, self.symbols_);
    if (!opened) return opened.error();
    self.expected_ = opened->expected;
    self.source_ = std::move(opened->source);
  }
  auto cluster = make_cluster(config.cluster, self.symbols_);
  if (!cluster) return cluster.error();
  self.cluster_ = std::make_shared<const ClusterSpec>(std::move(*cluster));
  auto perf = make_perf(config.perf, self.symbols_);
  if (!perf) return perf.error();
  self.backend_ = std::make_unique<SimBackend>(
      self.cluster_, *perf, make_cost(config.restart, self.symbols_), config.failures);
  if (Status added = self.add_policies(config); !added) return added.error();
  self.parts_.cluster = self.cluster_;
  self.parts_.perf = *perf;
  self.parts_.backend = self.backend_.get();
  self.parts_.source = self.source_.get();
  self.parts_.options = config.engine;
  if (config.measure.last && config.measure.stop) {
    self.parts_.options.until_left = {JobId{static_cast<std::uint32_t>(*config.measure.first)},
                                      JobId{static_cast<std::uint32_t>(*config.measure.last)}};
  }
  return simulation;
}

Result<bool> Simulation::run(const std::function<bool()>& keep_going) {
  bool stopped = false;
  Engine engine(std::move(parts_));
  const Status status = engine.run([&] {
    stopped = keep_going && !keep_going();
    return !stopped;
  });
  if (!status) return status.error();
  return !stopped;
}

Result<std::optional<RunSummary>> measure_run(const RunConfig& config,
                                              std::shared_ptr<const SharedJobs> jobs,
                                              const std::function<bool()>& keep_going,
                                              Observer* observer) {
  auto simulation = Simulation::make(config, std::move(jobs));
  if (!simulation) return simulation.error();
  MetricsFold fold((*simulation)->symbols(), metrics_options(config));
  (*simulation)->observe(fold);
  if (observer != nullptr) (*simulation)->observe(*observer);
  const auto ended = (*simulation)->run(keep_going);
  if (!ended) return ended.error();
  if (!*ended) return std::optional<RunSummary>();
  return std::optional<RunSummary>(fold.summary());
}

MetricsFold::Options metrics_options(const RunConfig& config) {
  MetricsFold::Options options;
  if (config.measure.last) {
    options.first = JobId{static_cast<std::uint32_t>(*config.measure.first)};
    options.last = JobId{static_cast<std::uint32_t>(*config.measure.last)};
  }
  return options;
}

}  // namespace muster
