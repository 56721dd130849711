#include "run/assembly/live_needs.h"

#include <algorithm>

#include <fmt/format.h>

namespace muster {
namespace {

// The options of `muster submit` that say it; empty: no submission can.
std::string_view said_with(Knowledge which) {
  switch (which) {
    case Knowledge::kDuration:
    case Knowledge::kEstimate:
      return "--estimate, --time-limit, or --iterations with --step-ms";
    case Knowledge::kDeadline:
      return "--deadline";
    case Knowledge::kPriority:
      return "--priority below 0";
    case Knowledge::kSizes:
      return "--gpus LEAST-MOST";
    case Knowledge::kStageTimes:
      return "--stage-ms";
    case Knowledge::kHost:
      return "--cpus or --memory";
    default:
      return "";
  }
}

// Jobs about which everything is said that can be said, one for each name that the tables of the
// performance model may know. What is known of none of them will be known of no job.
void ask_about_all(JobCensus& census, const Symbols& symbols) {
  JobSpec job;
  job.duration = job.estimate = 3600;
  job.iterations = 1000;
  job.deadline = 7200;
  job.priority = -1;
  job.step_ms = 3600;
  job.stage_ms = {900, 900, 900, 900};
  job.cpus = job.memory_gb = 1;
  for (const int gpus : {1, 2, 4}) {
    job.gpus = gpus;
    job.min_gpus = 1;
    job.max_gpus = 8;
    for (std::size_t i = 0; i < symbols.size(); ++i) {  // the first is no name at all
      job.model = static_cast<Symbol>(i);
      census.add(job);
    }
  }
}

bool known_of_nobody(Knowledge which, const KnownInputs& inputs, const JobCensus& census) {
  switch (which) {
    case Knowledge::kForecast:
      return !inputs.forecast;
    case Knowledge::kNodeForecast:
      return !inputs.node_forecast;
    case Knowledge::kPrices:
      return !inputs.prices;
    default:
      return census.of(which).wanted > 0 && census.of(which).known == 0;
  }
}

}  // namespace

Result<std::vector<std::string>> live_needs(std::span<const NeedyPolicy> policies,
                                            const KnownInputs& inputs, const Symbols& symbols) {
  std::vector<std::string> notes;
  JobCensus census(policies, inputs);
  ask_about_all(census, symbols);
  for (const NeedyPolicy& policy : policies) {
    for (const Need& need : policy.needs) {
      const std::string_view name = info_of(need.of).name;
      if (const std::string_view options = said_with(need.of); !options.empty()) {
        const std::string_view otherwise =
            need.of == Knowledge::kDuration || need.of == Knowledge::kEstimate ? kUnknownLength
                                                                               : need.otherwise;
        notes.push_back(fmt::format("{} goes by {}: submit with {}{}{}", policy.name, name, options,
                                    otherwise.empty() ? "" : "; without, ", otherwise));
        continue;
      }
      if (!known_of_nobody(need.of, inputs, census)) continue;
      const std::string problem =
          fmt::format("{} needs {}, and no live job can provide them", policy.name, name);
      if (need.refuses()) return Error{fmt::format("{}; {}", problem, remedy(need.of))};
      notes.push_back(
          fmt::format("{}: {}. To change that, {}", problem, need.otherwise, remedy(need.of)));
    }
  }
  return notes;
}

}  // namespace muster
