// Runs a cluster whose partitions (virtual clusters) never share anything as independent
// simulations: one per partition, several at once. Each partition has an engine, policies and a
// clock of its own, as in Helios' and Lucid's simulators; the result does not depend on the
// threads.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "backend/sim/sim_backend.h"
#include "engine/engine.h"
#include "run/assembly/piece_log.h"

namespace muster {

struct ApartSettings {
  // What decides in one partition: pacing, policy sets, selector, scaling and forecast.
  std::function<Engine::Parts(Symbol partition)> parts;
  std::shared_ptr<const PerfModel> perf;
  std::shared_ptr<const RestartCost> cost = std::make_shared<RestartCost>();
  FailureOptions failures;
  // The simulated cluster of a partition; empty: one with continuous progress.
  std::function<std::unique_ptr<Backend>(SimParts)> backend = {};
  EngineOptions options;
  bool apart = true;                      // false: all partitions in one simulation
  unsigned threads = 0;                   // 0: as many as the machine has
  std::function<bool()> keep_going = {};  // asked in every thread; false ends the run
};

struct ApartOutcome {
  std::vector<PieceLog> pieces;  // one per partition, in the order of the cluster's nodes
  bool complete = true;          // false: keep_going said no
};

// Jobs must be in order of arrival; their numbers are their places in the list. A job of a
// partition without nodes is refused.
Result<ApartOutcome> run_partitions_apart(const ClusterSpec& cluster, std::span<const JobSpec> jobs,
                                          const ApartSettings& settings);

// What became of each job, by its number in the whole, of `jobs` in all.
std::vector<JobRecord> records_of(std::span<const PieceLog> pieces, std::size_t jobs);

}  // namespace muster
