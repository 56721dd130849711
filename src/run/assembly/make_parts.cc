#include "run/assembly/make_parts.h"

#include <utility>

#include "base/table_lookup.h"
#include "base/text.h"
#include "perf/product.h"
#include "run/assembly/job_tables.h"
#include "run/assembly/make_policies.h"
#include "run/config/plugin_tables.h"
#include "run/config/plugins.h"

namespace muster {
namespace {

template <typename Table>
auto made(std::string_view kind, const Table& table, const Choice& choice) {
  return make_from(plugin_kind(kind).noun, table, choice.name, choice.params);
}

}  // namespace

Result<std::shared_ptr<const PerfModel>> make_perf(const std::vector<Choice>& choices,
                                                   Symbols& symbols) {
  std::vector<std::unique_ptr<PerfModel>> models;
  for (const Choice& choice : choices) {
    const auto row = find_row(plugin_kind("perf").noun, plugin_tables().perf, choice.name);
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
  for (const auto& [gpus, seconds] : config.by_size) {
    cost->by_size.emplace_back(static_cast<int>(gpus), seconds);
  }
  for (const RestartRow& row : config.table) {
    cost->by_model[{symbols.intern(row.model), static_cast<int>(row.gpus)}] = row.seconds;
  }
  return cost;
}

Result<std::unique_ptr<Pacing>> make_pacing(const RunConfig& config) {
  return made("pacing", plugin_tables().pacing, config.pacing);
}

Status add_policies(const RunConfig& config, const Symbols& symbols, Engine::Parts& parts) {
  std::vector<PolicySetConfig> policy_sets = config.policy_sets;
  if (policy_sets.empty()) {
    policy_sets.push_back({config.admission, config.scheduling, config.placement});
  }
  for (const PolicySetConfig& choice : policy_sets) {
    auto policy_set = make_policy_set(choice, config.loader.get(), symbols);
    if (!policy_set) return policy_set.error();
    parts.policy_sets.push_back(std::move(*policy_set));
  }
  if (!config.selector.empty()) {
    auto selector = made("selector", plugin_tables().selector, config.selector);
    if (!selector) return selector.error();
    parts.selector = std::move(*selector);
  }
  if (!config.scaling.empty()) {
    auto scaling = made("scaling", plugin_tables().scaling, config.scaling);
    if (!scaling) return scaling.error();
    parts.scaling = std::move(*scaling);
  }
  if (!config.forecast.file.empty()) {
    auto forecast = load_forecast(config.forecast);
    if (!forecast) return forecast.error();
    parts.forecast = std::make_shared<const Forecast>(std::move(*forecast));
  }
  return Done{};
}

}  // namespace muster
