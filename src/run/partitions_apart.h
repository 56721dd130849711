// Runs a cluster whose partitions (virtual clusters) never share anything as what it is: one
// simulation per partition, several at once. Each partition has an engine, policies and a clock of
// its own, as in Helios' and Lucid's simulators; the result does not depend on the threads.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/sim/sim_backend.h"
#include "engine/engine.h"

namespace muster {

struct ApartSettings {
  // The policies of one partition.
  std::function<Combination(Symbol partition)> policies;
  // Which of its nodes are powered; none: all are.
  std::function<std::unique_ptr<ScalingPolicy>(Symbol partition)> scaling;
  // Observers of one partition, called in its thread; they must outlive the run.
  std::function<std::vector<Observer*>(Symbol partition)> observers;
  std::shared_ptr<const PerfModel> perf;
  std::shared_ptr<const RestartCost> cost = std::make_shared<RestartCost>();
  std::shared_ptr<const Forecast> forecast;
  FailureOptions failures;
  ProgressRule progress;
  EngineOptions options;
  Seconds tick = 1;  // turns at whole ticks; 0: at events
  int threads = 0;   // 0: as many as the machine has
};

// What became of each job, in the order of `jobs`. A job of a partition without nodes is refused.
// Jobs must be in order of arrival.
Result<std::vector<JobRecord>> run_partitions_apart(const ClusterSpec& cluster,
                                                    std::span<const JobSpec> jobs,
                                                    const ApartSettings& settings);

}  // namespace muster
