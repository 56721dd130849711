#include "run/assembly/simulation.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "backend/sim/life_backend.h"
#include "backend/sim/sim_backend.h"
#include "base/table_lookup.h"
#include "base/text.h"
#include "policy/failure.h"
#include "run/assembly/beliefs.h"
#include "run/assembly/guards.h"
#include "run/assembly/job_tables.h"
#include "run/assembly/make_allocator.h"
#include "run/assembly/make_parts.h"
#include "run/assembly/online_profiling.h"
#include "run/assembly/priced_jobs.h"
#include "run/assembly/prices.h"
#include "run/assembly/profiled_queues.h"
#include "run/config/plugin_tables.h"

namespace muster {
namespace {

// A profiler with an engine of its own.
bool has_stage(const RunConfig& config) {
  return config.profiling.nodes > 0 && !config.profiling.within;
}

}  // namespace

Status Simulation::add_stages(const RunConfig& config) {
  const ProfilingConfig& chosen = config.profiling;
  const auto partition = [&](const std::string& name) -> Result<Symbol> {
    std::vector<std::string_view> known;
    for (const Symbol own : cluster_->partition_names()) {
      if (symbols_.text(own) == name) return own;
      known.push_back(symbols_.text(own));
    }
    return Error{fmt::format(
        "profiling: {}. Name partitions of this cluster (--set profiling.donors=A,B --set "
        "profiling.lender=C), or leave profiling out (--set profiling.nodes=0)",
        unknown_name("partition", name, known))};
  };
  if (chosen.nodes > 0) {
    ProfilingSettings& profiling = profiling_.emplace();
    profiling.nodes = static_cast<int>(chosen.nodes);
    profiling.gpus_per_node = static_cast<int>(chosen.gpus_per_node);
    profiling.limit = chosen.limit;
    profiling.largest = static_cast<int>(chosen.largest);
    profiling.borrow = chosen.borrow;
    profiling.free = chosen.free;
    profiling.book = (*find_row("accounting", plugin_tables().accounting, config.accounting.name))
                         ->book_profiling;
    for (const std::string& name : chosen.donors) {
      const auto donor = partition(name);
      if (!donor) return donor.error();
      profiling.donors.push_back(*donor);
    }
    if (!chosen.lender.empty()) {
      const auto lender = partition(chosen.lender);
      if (!lender) return lender.error();
      profiling.lender = *lender;
    }
  }
  config_ = config;
  ApartSettings& apart = apart_.emplace();
  apart.apart = config.partitions_apart;
  apart.failures = config.failures;
  apart.backend = [this, config](SimParts parts) { return make_backend(config, std::move(parts)); };
  apart.options = config.engine;
  return Done{};
}

bool Simulation::policies_drive_completion() const {
  return std::any_of(
      parts_.policy_sets.begin(), parts_.policy_sets.end(),
      [](const PolicySet& set) { return set.scheduling->traits().drives_completion; });
}

std::unique_ptr<Backend> Simulation::make_backend(const RunConfig& config, SimParts parts) const {
  if (config.life.any()) return std::make_unique<LifeBackend>(std::move(parts), config.life);
  if (policies_drive_completion()) {
    return std::make_unique<SimBackend>(std::move(parts), make_open_ended());
  }
  const ProgressInfo& row =
      **find_row("progress model", plugin_tables().progress, config.progress.name);
  const auto params = Params::make("progress model", row.params, config.progress.params);
  return row.make(*params, std::move(parts), *parts_.pacing);
}

Engine::Parts Simulation::clone_parts() const {
  Engine::Parts parts;
  parts.pacing = parts_.pacing->clone();
  for (const PolicySet& policy_set : parts_.policy_sets) {
    parts.policy_sets.push_back(policy_set.clone());
  }
  if (parts_.selector != nullptr) parts.selector = parts_.selector->clone();
  if (parts_.scaling != nullptr) parts.scaling = parts_.scaling->clone();
  parts.forecast = parts_.forecast;
  parts.prices = parts_.prices;
  return parts;
}

std::vector<std::string> Simulation::notes() const {
  std::vector<std::string> notes = jobs_ == nullptr ? std::vector<std::string>{} : jobs_->notes;
  for (std::string& note : source_->notes()) notes.push_back(std::move(note));
  if (by_gpu_type_ && cluster_->gpu_types().empty()) {
    notes.emplace_back(
        "the cluster names no GPU types, so the performance model changes nothing: name them, as "
        "in --cluster 16x8:v100");
  }
  return notes;
}

void Simulation::use_threads(unsigned threads) {
  if (apart_) apart_->threads = threads;
}

Result<Profiling> Simulation::profile() {
  if (!profiling_ || jobs_ == nullptr) {
    return Error{"the description has no profiling stage before the run"};
  }
  apart_->parts = [this](Symbol) { return clone_parts(); };
  return run_profiling(jobs_->jobs, *profiling_, *apart_);
}

Result<bool> Simulation::run_apart(const std::function<bool()>& keep_going) {
  apart_->parts = [this](Symbol) { return clone_parts(); };
  apart_->keep_going = keep_going;
  auto outcome = config_.profiling.online
                     ? run_profiled_online(*cluster_, *source_, *profiling_, *apart_)
                 : profiling_ ? run_profiled(*cluster_, jobs_->jobs, *profiling_, *apart_)
                              : run_partitions_apart(*cluster_, jobs_->jobs, *apart_);
  if (!outcome) return outcome.error();
  tell_together(outcome->pieces, parts_.observers);
  return outcome->complete;
}

Status Simulation::open_source(const RunConfig& config, std::shared_ptr<const SharedJobs> jobs) {
  const bool staged = config.partitions_apart || (has_stage(config) && !config.profiling.online);
  const bool counts_first =
      needs_.about_jobs() && !config.workload.stream && !endless(config.workload);
  if ((staged || counts_first || parts_.pacing->needs_last_arrival()) && jobs == nullptr) {
    if (endless(config.workload)) {
      return Error{fmt::format("{} need all jobs in advance: give the generator an end with jobs=N",
                               staged ? "partitions apart and profiling"
                                      : "turns of the pacing '" + config.pacing.name + "'")};
    }
    auto loaded = load_jobs(config.workload);
    if (!loaded) return loaded.error();
    jobs = std::move(*loaded);
  }
  if (jobs != nullptr) {
    symbols_ = Symbols(jobs->symbols);
    expected_ = jobs->jobs.size();
    source_ = std::make_unique<ListSource>(jobs->jobs);
    jobs_ = std::move(jobs);
    return Done{};
  }
  auto opened = open_jobs(config.workload, symbols_);
  if (!opened) return opened.error();
  expected_ = opened->expected;
  source_ = std::move(opened->source);
  return Done{};
}

Status Simulation::add_engine(const RunConfig& config, std::shared_ptr<const RestartCost> cost) {
  for (const PolicySet& set : parts_.policy_sets) {
    if (Status fit = fit_for(set.scheduling->traits(), config, *cluster_); !fit) return fit;
  }
  if (Status added = add_profiler_within(config, *cluster_, symbols_, parts_.policy_sets); !added) {
    return added;
  }
  source_ = checked_by(truth_, parts_.perf, std::move(source_));
  backend_ = make_backend(config, {cluster_, truth_, std::move(cost), config.failures});
  parts_.cluster = cluster_;
  parts_.backend = backend_.get();
  parts_.source = source_.get();
  parts_.options = config.engine;
  parts_.options.close_look = config.output.turns;
  if (config.measure.last && config.measure.stop) {
    parts_.options.until_left = {JobId{static_cast<std::uint32_t>(*config.measure.first)},
                                 JobId{static_cast<std::uint32_t>(*config.measure.last)}};
  }
  config_ = config;
  return Done{};
}

Result<std::unique_ptr<Simulation>> Simulation::make(const RunConfig& config,
                                                     std::shared_ptr<const SharedJobs> jobs) {
  std::unique_ptr<Simulation> simulation(new Simulation);
  Simulation& self = *simulation;
  auto pacing = make_pacing(config);
  if (!pacing) return pacing.error();
  self.parts_.pacing = std::move(*pacing);
  auto needs = RunNeeds::make(config);
  if (!needs) return needs.error();
  self.needs_ = std::move(*needs);
  if (Status opened = self.open_source(config, std::move(jobs)); !opened) return opened.error();
  auto cluster = make_cluster(config.cluster, self.symbols_);
  if (!cluster) return cluster.error();
  self.cluster_ = std::make_shared<const ClusterSpec>(std::move(*cluster));
  auto truth = make_perf(config.perf, self.symbols_);
  if (!truth) return truth.error();
  auto beliefs = config.beliefs.empty() ? truth : make_perf(config.beliefs, self.symbols_);
  if (!beliefs) return beliefs.error();
  self.truth_ = *truth;
  self.by_gpu_type_ = self.truth_->counts_steps();
  self.parts_.perf = *beliefs;
  const auto cost = make_cost(config.restart, self.symbols_);
  self.cost_ = cost;
  if (config.restart.unknown == "refuse") {
    self.source_ = std::make_unique<PricedJobs>(std::move(self.source_), cost, self.symbols_);
  }
  auto prices = load_prices(config.prices, *self.cluster_, self.symbols_);
  if (!prices) return prices.error();
  self.parts_.prices = std::move(*prices);
  if (Status added = add_policies(config, self.symbols_, self.parts_); !added) return added.error();
  const auto& forecast = self.parts_.forecast;
  KnownInputs known{self.cluster_, self.parts_.perf, forecast != nullptr,
                    forecast != nullptr && forecast->has_nodes(), self.parts_.prices != nullptr};
  known.durations = config.durations;
  known.estimates_drawn = !config.errors.empty();
  const bool at_hand = self.jobs_ != nullptr;
  if (Status met = self.needs_.check(known, at_hand ? &self.jobs_->jobs : nullptr); !met) {
    return met.error();
  }
  if (!at_hand) self.source_ = self.needs_.counted(std::move(self.source_));
  auto believed = as_believed(config, std::move(self.source_), self.symbols_, self.parts_.perf);
  if (!believed) return believed.error();
  self.source_ = std::move(*believed);
  if (config.partitions_apart || has_stage(config)) {
    if (self.jobs_ != nullptr && !config.profiling.online) {
      auto list = as_believed(config, std::move(self.jobs_), self.parts_.perf);
      if (!list) return list.error();
      self.jobs_ = std::move(*list);
    }
    if (Status added = self.add_stages(config); !added) return added.error();
    self.apart_->perf = self.truth_;
    self.apart_->cost = cost;
  } else if (Status added = self.add_engine(config, cost); !added) {
    return added.error();
  }
  return simulation;
}

Result<bool> Simulation::run(const std::function<bool()>& keep_going) {
  try {
    return run_to_end(keep_going);
  } catch (const PolicyFailure& failure) {
    return Error{failure.what()};
  }
}

Result<std::unique_ptr<Execution>> Simulation::start() {
  if (apart_) {
    return Error{"a run with partitions apart or a profiling stage cannot be taken turn by turn"};
  }
  const bool nodes_change = config_.failures.any() || !cluster_->schedule.empty();
  const auto row = find_row("execution", plugin_tables().execution, config_.execution.name);
  if (!row) return row.error();
  return (*row)->make({std::move(parts_), truth_, nodes_change});
}

void Simulation::digest_jobs() {
  digested_ = std::make_unique<DigestedJobs>(*source_);
  parts_.source = digested_.get();
}

Result<bool> Simulation::run_to_end(const std::function<bool()>& keep_going) {
  const bool saves = !save_.file.empty();
  const bool continues = !save_.continue_from.empty();
  if (apart_) {
    if (!saves && !continues) return run_apart(keep_going);
    return Error{
        "a run with partitions apart or a profiling stage cannot be saved; docs/engine.md says "
        "what to use instead"};
  }
  if (saves || continues) digest_jobs();
  RunStory story;
  if (saves) parts_.observers.push_back(&story);
  const std::vector<Observer*> observers = parts_.observers;
  auto execution = start();
  if (!execution) return execution.error();
  if (!saves && !continues) return (*execution)->run(keep_going);
  Engine* const engine = (*execution)->engine();
  if (engine == nullptr) {
    return Error{
        fmt::format("a run with the execution '{}' cannot be saved", config_.execution.name)};
  }
  if (saves) {
    if (Status savable = check_savable(*engine, config_); !savable) return savable.error();
  }
  if (continues) {
    const Status put = continue_run(save_.continue_from, *engine, config_, *digested_, observers);
    if (!put) return put.error();
  }
  return run_and_save(**execution, story, keep_going);
}

Result<bool> Simulation::run_and_save(Execution& execution, RunStory& story,
                                      const std::function<bool()>& keep_going) {
  Engine& engine = *execution.engine();
  bool saved = save_.file.empty();
  std::optional<Error> unsaved;
  const auto complete = execution.run([&] {
    if (!saved && engine.arrived() > save_.at_job) {
      saved = true;
      if (Status kept = save_run(save_.file, engine, config_, *digested_, story); !kept) {
        unsaved = kept.error();
        return false;
      }
      story.close();
    }
    return !keep_going || keep_going();
  });
  if (!complete) return complete.error();
  if (unsaved) return *unsaved;
  if (!saved && *complete && !save_.or_ends) {
    return Error{fmt::format("{} was not written: job {} never arrived, only {} jobs did",
                             save_.file, save_.at_job, engine.arrived())};
  }
  return *complete;
}

Result<std::optional<RunSummary>> measure_run(const RunConfig& config,
                                              std::shared_ptr<const SharedJobs> jobs,
                                              const std::function<bool()>& keep_going,
                                              Observer* observer, SaveOptions save,
                                              std::vector<std::string>* warnings) {
  auto simulation = Simulation::make(config, std::move(jobs));
  if (!simulation) return simulation.error();
  MetricsFold fold((*simulation)->symbols(), metrics_options(config));
  (*simulation)->observe(fold);
  (*simulation)->use_threads(1);  // the callers run many at once
  if (observer != nullptr) (*simulation)->observe(*observer);
  (*simulation)->save(std::move(save));
  const auto ended = (*simulation)->run(keep_going);
  if (!ended) return ended.error();
  if (!*ended) return std::optional<RunSummary>();
  if (warnings != nullptr) *warnings = (*simulation)->warnings();
  return std::optional<RunSummary>(fold.summary());
}

MetricsFold::Options metrics_options(const RunConfig& config) {
  MetricsFold::Options options;
  const auto accounting =
      find_row("accounting", plugin_tables().accounting, config.accounting.name);
  options.deadlines_by_completion_time = accounting && (*accounting)->deadlines_by_completion_time;
  if (config.measure.last) {
    options.first = JobId{static_cast<std::uint32_t>(*config.measure.first)};
    options.last = JobId{static_cast<std::uint32_t>(*config.measure.last)};
  }
  return options;
}

}  // namespace muster
