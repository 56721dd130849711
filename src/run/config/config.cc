#include "run/config/config.h"

#include <fmt/format.h>

#include "base/text.h"
#include "run/config/plugins.h"

namespace muster {

bool names_a_file(std::string_view durations) {
  return durations.find_first_not_of("0123456789.,;+-eE \t\r\n") != std::string_view::npos;
}

std::vector<PolicySetConfig> deciding_sets(const RunConfig& config) {
  if (!config.policy_sets.empty()) return config.policy_sets;
  return {{config.admission, config.scheduling, config.placement}};
}

bool endless(const WorkloadConfig& workload) {
  if (!workload.trace.empty() || workload.limit > 0) return false;
  const auto jobs = workload.generator.params.find("jobs");
  return jobs != workload.generator.params.end() && jobs->second == "0";
}

std::vector<std::string*> RunConfig::paths() {
  std::vector<std::string*> found = {&workload.trace,  &workload.estimates.file,
                                     &workload.models, &forecast.file,
                                     &prices.file,     &cluster.file};
  for (const std::string_view key : kGeneratorFiles) {
    const auto file = workload.generator.params.find(key);
    if (file != workload.generator.params.end()) found.push_back(&file->second);
  }
  if (const auto file = workload.settings.find("throughputs"); file != workload.settings.end()) {
    found.push_back(&file->second);
  }
  for (std::vector<Choice>* models : {&perf, &beliefs}) {
    for (Choice& model : *models) {
      for (const std::string_view key : kPerfFiles) {
        const auto file = model.params.find(key);
        if (file != model.params.end()) found.push_back(&file->second);
      }
    }
  }
  const auto sample = scheduling.params.find(kDurations);
  if (sample != scheduling.params.end() && names_a_file(sample->second)) {
    found.push_back(&sample->second);
  }
  return found;
}

std::string RunConfig::label() const {
  const auto shown = [](std::string_view kind, const Choice& choice) {
    const auto row = find_plugin(plugin_kind(kind), choice.name);
    return row ? shorten_choice(*(*row)->params, choice).text() : choice.text();
  };
  if (!policy_sets.empty()) {
    return fmt::format("{} over {} policy sets", shown("selector", selector), policy_sets.size());
  }
  std::string text = shown("scheduling", scheduling) + " + " + shown("placement", placement);
  if (admission.name != RunConfig().admission.name) text += " + " + shown("admission", admission);
  return text;
}

std::string first_difference(std::string_view before, std::string_view now) {
  const auto old_lines = split(before, '\n');
  const auto new_lines = split(now, '\n');
  std::size_t i = 0;
  while (i < old_lines.size() && i < new_lines.size() && old_lines[i] == new_lines[i]) ++i;
  const auto line = [i](const auto& lines) {
    return i < lines.size() ? std::string(lines[i]) : std::string("nothing");
  };
  return fmt::format("it has `{}` where this one has `{}`", line(old_lines), line(new_lines));
}

}  // namespace muster
