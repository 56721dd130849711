// One simulated run, made from its description: jobs, cluster, policies, engine and simulated
// backend.
//
// Simulations share only the jobs in memory, which are immutable: any number may run at once, each
// in a thread of its own.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "backend/sim/sim_backend.h"
#include "engine/execution.h"
#include "report/metrics.h"
#include "run/assembly/jobs.h"
#include "run/assembly/needs_check.h"
#include "run/assembly/profiling.h"
#include "run/assembly/saved_run.h"
#include "run/config/config.h"

namespace muster {

class Simulation {
 public:
  // `config` must be complete (complete_config). With `jobs`, those are run instead of what the
  // description names: they must come from the same workload section.
  static Result<std::unique_ptr<Simulation>> make(const RunConfig& config,
                                                  std::shared_ptr<const SharedJobs> jobs = nullptr);

  // Names of the symbols in records; interning goes on while a trace is being streamed.
  const Symbols& symbols() const { return symbols_; }
  Symbols& symbols() { return symbols_; }
  // How many jobs will have left at the end; 0 if that is not known.
  std::uint64_t expected_jobs() const { return expected_; }
  const ClusterSpec& cluster() const { return *cluster_; }
  // What its policies need and its inputs do not tell them; complete once it has run.
  std::vector<std::string> warnings() const { return needs_.warnings(); }
  // Whether they are complete before that.
  bool knows_warnings() const { return needs_.complete(); }
  // Whether its policies know how long jobs will run.
  bool clairvoyant() const { return needs_.clairvoyant(); }
  // What a person should know about the jobs, once it has run.
  std::vector<std::string> notes() const;
  // In how many threads a run with partitions apart may work; 0: as many as the machine has.
  void use_threads(unsigned threads);
  // Observers must outlive the run; add them before it.
  void observe(Observer& observer) { parts_.observers.push_back(&observer); }

  // The profiling stage alone; the description must have one.
  Result<Profiling> profile();

  // Saves the run on its way, or goes on from a saved one.
  void save(SaveOptions options) { save_ = std::move(options); }

  // For callers that take the turns one by one: what carries the run out, instead of run(). The
  // simulation must outlive it.
  Result<std::unique_ptr<Execution>> start();
  // What the turns are taken with, for callers that fork the run.
  Backend& backend() { return *backend_; }
  JobSource& source() { return *source_; }
  // Puts a saved run back and leaves it there, to be asked; instead of run(). The engine lives as
  // long as this.
  Result<Engine*> resume(const std::string& file);
  // What the engine that was put back is made of, as if it had not decided anything yet.
  const Engine::Parts& fresh_parts() const { return fresh_; }
  std::shared_ptr<const RestartCost> cost() const { return cost_; }

  // Runs to the end, or until `keep_going` says no. Tells whether the end was reached.
  Result<bool> run(const std::function<bool()>& keep_going = {});

 private:
  Simulation() = default;
  Status add_stages(const RunConfig& config);
  Status open_source(const RunConfig& config, std::shared_ptr<const SharedJobs> jobs);
  Status add_engine(const RunConfig& config, std::shared_ptr<const RestartCost> cost);
  Result<bool> run_to_end(const std::function<bool()>& keep_going);
  Result<bool> run_apart(const std::function<bool()>& keep_going);
  // Saves on the way, where that was asked for.
  Result<bool> run_and_save(Execution& execution, RunStory& story,
                            const std::function<bool()>& keep_going);
  // Before the execution is made.
  void digest_jobs();
  // Whether the policies, and not the backend, say when jobs are over.
  bool policies_drive_completion() const;
  // The simulated cluster that the description asks for.
  std::unique_ptr<Backend> make_backend(const RunConfig& config, SimParts parts) const;
  // A copy of what decides, for one of several engines.
  Engine::Parts clone_parts() const;

  Symbols symbols_;
  std::shared_ptr<const SharedJobs> jobs_;
  std::shared_ptr<const ClusterSpec> cluster_;
  std::unique_ptr<JobSource> source_;
  std::unique_ptr<DigestedJobs> digested_;  // these, of a run that is saved or goes on
  std::unique_ptr<Backend> backend_;
  // Of a run in several simulations; empty otherwise.
  std::optional<ApartSettings> apart_;
  std::optional<ProfilingSettings> profiling_;
  Engine::Parts parts_;
  std::shared_ptr<const PerfModel> truth_;
  std::shared_ptr<const RestartCost> cost_;
  std::unique_ptr<Execution> resumed_;
  Engine::Parts fresh_;
  RunConfig config_;
  SaveOptions save_;
  RunNeeds needs_;
  std::uint64_t expected_ = 0;
  bool by_gpu_type_ = false;  // speeds are measured by GPU type
};

// The measured window of the description.
MetricsFold::Options metrics_options(const RunConfig& config);

// Runs and folds into figures, nothing else: what sweeps and experiments do a thousand times.
// Empty when `keep_going` ended the run early.
Result<std::optional<RunSummary>> measure_run(const RunConfig& config,
                                              std::shared_ptr<const SharedJobs> jobs,
                                              const std::function<bool()>& keep_going = {},
                                              Observer* observer = nullptr, SaveOptions save = {},
                                              std::vector<std::string>* warnings = nullptr);

}  // namespace muster
