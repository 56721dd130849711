#include "run/whatif/question.h"

#include <tuple>
#include <utility>

#include "base/table_lookup.h"
#include "run/assembly/guards.h"
#include "run/assembly/make_policies.h"
#include "run/assembly/needs_check.h"
#include "run/assembly/prices.h"
#include "run/assembly/profiled_queues.h"
#include "run/config/load_config.h"
#include "run/config/plugin_tables.h"
#include "run/config/plugins.h"

namespace muster {
namespace {

// What a simulation asks of its policies before it begins, asked of those that would take over. The
// error has the same words.
Status check_others(const Subject& subject, const RunConfig& config, PolicySet& policies) {
  const ClusterSpec& cluster = *subject.parts.cluster;
  SchedulingPolicy& scheduling = *policies.scheduling;
  const SchedulingTraits traits = scheduling.traits();
  if (Status fit = fit_for(traits, config, cluster); !fit) return fit;
  if (Status fit = works_outside_its_simulator(traits, config.scheduling.name); !fit) return fit;
  Symbols symbols = subject.symbols;
  auto prices = load_prices(config.prices, cluster, symbols);
  if (!prices) return prices.error();
  auto needs = RunNeeds::make(config);
  if (!needs) return needs.error();
  const Forecast* const forecast = subject.parts.forecast.get();
  KnownInputs known{subject.parts.cluster, subject.parts.perf, forecast != nullptr,
                    forecast != nullptr && forecast->has_nodes(), *prices != nullptr};
  known.durations = config.durations;
  known.estimates_drawn = !config.errors.empty();
  std::vector<JobSpec> jobs;
  for (const Job& job : subject.world.jobs) jobs.push_back(job.spec);
  return needs->check(known, &jobs);
}

// The policies of the run, some of them replaced; null: all stay as they are.
Result<std::shared_ptr<const PolicySet>> other_policies(const Subject& subject,
                                                        const Question& question) {
  RunConfig config = subject.config;
  const std::tuple<const std::string*, std::string_view, Choice*> choices[] = {
      {&question.scheduling, "--scheduling", &config.scheduling},
      {&question.placement, "--placement", &config.placement},
      {&question.admission, "--admission", &config.admission}};
  bool any = false;
  for (const auto& [text, what, choice] : choices) {
    if (text->empty()) continue;
    auto parsed = parse_choice(*text, what);
    if (!parsed) return parsed.error();
    *choice = std::move(*parsed);
    any = true;
  }
  if (!any) return std::shared_ptr<const PolicySet>();
  // One set of policies takes the place of all that a selector had to choose from.
  config.policy_sets.clear();
  config.selector = {};
  auto complete = complete_config(std::move(config));
  if (!complete) return complete.error();
  auto made = make_policy_set({complete->admission, complete->scheduling, complete->placement},
                              complete->loader.get(), subject.symbols);
  if (!made) return made.error();
  if (Status fit = check_others(subject, *complete, *made); !fit) return fit.error();
  if (Status added = add_profiler_within(*complete, *subject.parts.cluster, subject.symbols,
                                         std::span(&*made, 1));
      !added) {
    return added.error();
  }
  return std::make_shared<const PolicySet>(std::move(*made));
}

}  // namespace

OutlookParts outlook_parts(const Engine::Parts& fresh) {
  OutlookParts parts;
  parts.cluster = fresh.cluster;
  parts.perf = fresh.perf;
  parts.pacing = fresh.pacing->clone();
  parts.policies = std::make_shared<const PolicySet>(fresh.policy_sets.front().clone());
  parts.forecast = fresh.forecast;
  parts.prices = fresh.prices;
  parts.options = fresh.options;
  return parts;
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

Result<Answer> ask(Subject& subject, const Question& question,
                   const std::function<bool()>& keep_going) {
  Status fit = works_outside_its_simulator(subject.parts.policies->scheduling->traits(),
                                           subject.config.scheduling.name);
  if (!fit) return fit.error();
  Change change = question.change;
  auto policies = other_policies(subject, question);
  if (!policies) return policies.error();
  change.policies = std::move(*policies);
  OutlookOptions options;
  options.samples = question.samples;
  options.horizon = question.horizon;
  options.keep_going = keep_going;
  auto errors = errors_of(subject.config, question.errors, subject.symbols);
  if (!errors) return errors.error();
  options.errors = std::move(*errors);
  return ask(subject.world, subject.parts, change, options, subject.symbols);
}

}  // namespace muster
