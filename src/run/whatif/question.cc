#include "run/whatif/question.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "base/table_lookup.h"
#include "run/assembly/guards.h"
#include "run/assembly/make_policies.h"
#include "run/assembly/needs_check.h"
#include "run/assembly/prices.h"
#include "run/assembly/profiled_queues.h"
#include "run/config/load_config.h"
#include "run/config/plugin_tables.h"
#include "run/config/plugins.h"
#include "run/config/policy_loader.h"

namespace muster {
namespace {

// What a simulation asks of its policies before it begins, asked of those that would take over. The
// error has the same words.
Status check_others(const Subject& subject, const RunConfig& config,
                    std::span<const PolicySet> sets) {
  const ClusterSpec& cluster = *subject.parts.cluster;
  RunConfig named = config;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const SchedulingTraits traits = sets[i].scheduling->traits();
    named.scheduling = deciding_sets(config)[i].scheduling;
    if (Status fit = fit_for(traits, named, cluster); !fit) return fit;
    Status fit = works_outside_its_simulator(traits, named.scheduling.name);
    if (!fit) return fit;
  }
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

bool names_policies(const Question& question) {
  return !question.scheduling.empty() || !question.placement.empty() || !question.admission.empty();
}

// The run with the policies that the question names, in every policy set. A scheduling policy rules
// alone, beside the admission and the placement of the set that rules now.
Result<RunConfig> with_others(const Subject& subject, const Question& question) {
  RunConfig config = subject.config;
  if (!question.scheduling.empty()) {
    const Engine* const running = subject.parts.running.get();
    const std::size_t active = running != nullptr ? running->state().active : subject.parts.active;
    const PolicySetConfig rules = deciding_sets(config)[active];
    config.admission = rules.admission;
    config.placement = rules.placement;
    config.policy_sets.clear();
    config.selector = {};
  }
  const std::tuple<const std::string*, std::string_view, Choice RunConfig::*,
                   Choice PolicySetConfig::*>
      choices[] = {
          {&question.scheduling, "--scheduling", &RunConfig::scheduling,
           &PolicySetConfig::scheduling},
          {&question.placement, "--placement", &RunConfig::placement, &PolicySetConfig::placement},
          {&question.admission, "--admission", &RunConfig::admission, &PolicySetConfig::admission}};
  for (const auto& [text, what, of_run, of_set] : choices) {
    if (text->empty()) continue;
    const auto parsed = parse_choice(*text, what);
    if (!parsed) return parsed.error();
    config.*of_run = *parsed;
    for (PolicySetConfig& one : config.policy_sets) one.*of_set = *parsed;
  }
  return complete_config(std::move(config));
}

// Whether the policies are those of the run already. A file in Python may have been edited since.
bool as_they_are(const RunConfig& config, const RunConfig& run) {
  const std::vector<PolicySetConfig> sets = deciding_sets(config);
  return sets == deciding_sets(run) &&
         std::none_of(sets.begin(), sets.end(), [](const PolicySetConfig& one) {
           return names_python(one.admission.name) || names_python(one.scheduling.name) ||
                  names_python(one.placement.name);
         });
}

// The policies of the run, some of them replaced; none: all stay as they are.
Result<std::vector<std::shared_ptr<const PolicySet>>> other_policies(const Subject& subject,
                                                                     const Question& question) {
  std::vector<std::shared_ptr<const PolicySet>> others;
  if (!names_policies(question)) return others;
  const auto config = with_others(subject, question);
  if (!config) return config.error();
  std::vector<PolicySet> sets;
  for (const PolicySetConfig& one : deciding_sets(*config)) {
    auto made = make_policy_set(one, config->loader.get(), subject.symbols);
    if (!made) return made.error();
    sets.push_back(std::move(*made));
  }
  if (Status fit = check_others(subject, *config, sets); !fit) return fit.error();
  if (as_they_are(*config, subject.config)) return others;
  if (Status added = add_profiler_within(*config, *subject.parts.cluster, subject.symbols, sets);
      !added) {
    return added.error();
  }
  for (PolicySet& one : sets) {
    others.push_back(std::make_shared<const PolicySet>(std::move(one)));
  }
  return others;
}

}  // namespace

OutlookParts outlook_parts(const Engine::Parts& fresh) {
  OutlookParts parts;
  parts.cluster = fresh.cluster;
  parts.perf = fresh.perf;
  parts.pacing = fresh.pacing->clone();
  for (const PolicySet& one : fresh.policy_sets) {
    parts.policy_sets.push_back(std::make_shared<const PolicySet>(one.clone()));
  }
  if (fresh.selector != nullptr) parts.selector = fresh.selector->clone();
  if (fresh.scaling != nullptr) parts.scaling = fresh.scaling->clone();
  parts.forecast = fresh.forecast;
  parts.prices = fresh.prices;
  parts.metrics = fresh.metrics;
  parts.metric_names = fresh.metric_names;
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
  const std::vector<PolicySetConfig> named = deciding_sets(subject.config);
  for (std::size_t i = 0; i < subject.parts.policy_sets.size(); ++i) {
    Status fit = works_outside_its_simulator(subject.parts.policy_sets[i]->scheduling->traits(),
                                             named[std::min(i, named.size() - 1)].scheduling.name);
    if (!fit) return fit.error();
  }
  Change change = question.change;
  auto others = other_policies(subject, question);
  if (!others) return others.error();
  change.policy_sets = std::move(*others);
  OutlookOptions options;
  options.samples = question.samples;
  options.horizon = question.horizon;
  options.keep_going = keep_going;
  auto errors = errors_of(subject.config, question.errors, subject.symbols);
  if (!errors) return errors.error();
  options.errors = std::move(*errors);
  auto answer = ask(subject.world, subject.parts, change, options, subject.symbols);
  // The policies that it names are those of the run: they change nothing, which is an answer.
  if (answer && !answer->changed && names_policies(question)) answer->changed = answer->as_is;
  return answer;
}

}  // namespace muster
