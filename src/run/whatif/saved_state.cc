#include "run/whatif/saved_state.h"

#include <utility>

#include "base/table_lookup.h"
#include "base/text.h"
#include "run/assembly/make_policies.h"
#include "run/config/plugin_tables.h"
#include "run/config/plugins.h"

namespace muster {

Result<std::unique_ptr<SavedState>> SavedState::open(const std::string& file) {
  auto config = description_in(file);
  if (!config) return config.error();
  auto simulation = Simulation::make(*config);
  if (!simulation) return simulation.error();
  auto engine = (*simulation)->resume(file);
  if (!engine) return engine.error();
  auto state = std::make_unique<SavedState>();
  state->config_ = std::move(*config);
  state->simulation_ = std::move(*simulation);
  state->engine_ = *engine;
  return state;
}

OutlookParts SavedState::parts() const {
  const Engine::Parts& fresh = simulation_->fresh_parts();
  OutlookParts parts;
  parts.cluster = fresh.cluster;
  parts.perf = fresh.perf;
  parts.cost = simulation_->cost();
  parts.pacing = fresh.pacing->clone();
  parts.policies = std::make_shared<const PolicySet>(fresh.policy_sets.front().clone());
  parts.running = std::shared_ptr<const Engine>(std::shared_ptr<const Engine>(), engine_);
  parts.forecast = fresh.forecast;
  parts.options = config_.engine;
  return parts;
}

Result<std::shared_ptr<const PolicySet>> SavedState::policies_with(
    const PolicySetConfig& others) const {
  RunConfig config = config_;
  const auto replace = [](Choice& choice, const Choice& other) {
    if (!other.empty()) choice = other;
  };
  replace(config.scheduling, others.scheduling);
  replace(config.placement, others.placement);
  replace(config.admission, others.admission);
  auto complete = complete_config(std::move(config));
  if (!complete) return complete.error();
  auto made = make_policy_set({complete->admission, complete->scheduling, complete->placement},
                              complete->loader.get(), std::as_const(*simulation_).symbols());
  if (!made) return made.error();
  return std::make_shared<const PolicySet>(std::move(*made));
}

Result<std::function<std::unique_ptr<ErrorModel>(int)>> errors_of(const RunConfig& config,
                                                                  const std::string& given,
                                                                  const Symbols& symbols) {
  std::function<std::unique_ptr<ErrorModel>(int)> make;
  Choice choice = config.errors;
  if (!given.empty()) {
    auto parsed = parse_choice(given, "--errors");
    if (!parsed) return parsed.error();
    choice = std::move(*parsed);
  } else if (choice.empty() && config.durations != Durations::kTrue) {
    choice.name = "log-normal";
  }
  if (choice.empty()) return make;
  const std::string_view noun = plugin_kind("errors").noun;
  const auto row = find_row(noun, plugin_tables().errors, choice.name);
  if (!row) return row.error();
  if (const auto known = Params::make(noun, (*row)->params, choice.params); !known) {
    return known.error();
  }
  make = [row = *row, choice, seed = config.seed, noun, &symbols](int sample) {
    ParamTexts texts = choice.params;
    for (const ParamInfo& info : row->params) {
      if (info.name == "seed") texts["seed"] = std::to_string(seed + sample);
    }
    return row->make(*Params::make(noun, row->params, texts), symbols);
  };
  return make;
}

}  // namespace muster
