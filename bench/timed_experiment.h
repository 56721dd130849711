// Runs an experiment against the clock, for benches.
#pragma once

#include <optional>

#include <fmt/format.h>

#include "clock.h"
#include "run/experiment/experiment.h"

namespace muster::bench {

struct TimedExperiment {
  double seconds = 0;
  ExperimentResult result;
  bool whole = true;  // no run lacks its data
};

// `change` may alter the experiment before it runs. What went wrong, and what data is missing, is
// printed; without a result there is nothing.
template <typename Change>
std::optional<TimedExperiment> time_experiment(const char* system, const char* name,
                                               Change change) {
  auto experiment = load_experiment(system, name);
  if (!experiment) {
    fmt::print("{}\n", experiment.error().message);
    return std::nullopt;
  }
  change(*experiment);
  const Moment begin = now();
  auto result = run_experiment(*experiment, {});
  const double seconds = seconds_since(begin);
  if (!result) {
    fmt::print("{}\n", result.error().message);
    return std::nullopt;
  }
  TimedExperiment timed{seconds, std::move(*result)};
  for (const RunCheck& run : timed.result.runs) {
    if (run.missing.empty()) continue;
    fmt::print("{}: {}\n", run.run, run.missing);
    timed.whole = false;
  }
  return timed;
}

}  // namespace muster::bench
