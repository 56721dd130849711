#include "core/turns.h"

#include <array>

#include <fmt/format.h>

#include "base/table_lookup.h"
#include "core/parts.h"
#include "core/trace.h"
#include "policy/failure.h"
#include "run/config/plugin_tables.h"
#include "run/config/plugins.h"

namespace muster::python {

// The policy of the description, unless an order was given for the turn.
class DirectedPolicy final : public SchedulingPolicy {
 public:
  DirectedPolicy(std::unique_ptr<SchedulingPolicy> inner, std::shared_ptr<Directions> directions)
      : inner_(std::move(inner)), directions_(std::move(directions)) {}

  SchedulingTraits traits() const override {
    SchedulingTraits traits = inner_->traits();
    // An order may come at any turn.
    traits.stable_between_events = false;
    return traits;
  }
  void schedule(const View& view, Plan& plan) override {
    if (!directions_->given) {
      inner_->schedule(view, plan);
      return;
    }
    const bool preempts = inner_->traits().preemptive;
    for (const JobId id : directions_->order) {
      for (const Slot slot : view.jobs.active()) {
        const Job& job = view.jobs[slot];
        if (job.spec.id != id || (job.running() && !preempts)) continue;
        plan.add(AllocationRequest::alone(slot, job.spec.gpus, job.spec.gpu_type));
      }
    }
  }
  CompletionRule* completion_rule() override { return inner_->completion_rule(); }
  void on_job(JobMoment moment, Slot slot, const View& view) override {
    inner_->on_job(moment, slot, view);
  }
  Seconds wake(const View& view) const override { return inner_->wake(view); }
  const DeadlineBook* promises() const override { return inner_->promises(); }
  const Allocator* allocator() const override { return inner_->allocator(); }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    const auto& directions = directions_->heir != nullptr ? directions_->heir : directions_;
    auto copy = std::make_unique<DirectedPolicy>(inner_->clone(), directions);
    if (directions_->heir != nullptr) directions->policy = copy.get();
    return copy;
  }

  // The new one hears of all jobs as if they had just come.
  void replace(std::unique_ptr<SchedulingPolicy> inner, const View& view) {
    inner_ = std::move(inner);
    for (const Slot slot : view.jobs.active()) inner_->on_job(JobMoment::kAdmitted, slot, view);
    for (const Slot slot : view.jobs.running()) inner_->on_job(JobMoment::kStarted, slot, view);
  }

 private:
  std::unique_ptr<SchedulingPolicy> inner_;
  std::shared_ptr<Directions> directions_;
};

namespace {

Result<std::unique_ptr<SchedulingPolicy>> plain_scheduling(const PolicyLoader* loader,
                                                           const Choice& choice,
                                                           const Symbols* symbols) {
  if (loader != nullptr && loader->knows("scheduling", choice.name)) {
    return loader->scheduling(choice, symbols);
  }
  return make_from(plugin_kind("scheduling").noun, plugin_tables().scheduling, choice.name,
                   choice.params);
}

// Puts a DirectedPolicy around the scheduling policy of a description.
class DirectingLoader final : public PolicyLoader {
 public:
  DirectingLoader(std::shared_ptr<const PolicyLoader> inner, std::shared_ptr<Directions> directions)
      : inner_(std::move(inner)), directions_(std::move(directions)) {}
  bool knows(std::string_view kind, std::string_view name) const override {
    return kind == "scheduling" || (inner_ != nullptr && inner_->knows(kind, name));
  }
  Result<std::unique_ptr<AdmissionPolicy>> admission(const Choice& choice,
                                                     const Symbols* symbols) const override {
    return inner_->admission(choice, symbols);
  }
  Result<std::unique_ptr<SchedulingPolicy>> scheduling(const Choice& choice,
                                                       const Symbols* symbols) const override {
    auto inner = plain_scheduling(inner_.get(), choice, symbols);
    if (!inner) return inner.error();
    auto directed = std::make_unique<DirectedPolicy>(std::move(*inner), directions_);
    if (symbols != nullptr) directions_->policy = directed.get();
    return std::unique_ptr<SchedulingPolicy>(std::move(directed));
  }
  Result<std::unique_ptr<PlacementPolicy>> placement(const Choice& choice,
                                                     const Symbols* symbols) const override {
    return inner_->placement(choice, symbols);
  }

 private:
  std::shared_ptr<const PolicyLoader> inner_;
  std::shared_ptr<Directions> directions_;
};

}  // namespace

TurnByTurn::TurnByTurn(RunConfig config, std::shared_ptr<const SharedJobs> jobs)
    : config_(std::move(config)), jobs_(std::move(jobs)) {
  RunConfig own = config_;
  own.loader = std::make_shared<DirectingLoader>(config_.loader, directions_);
  if (jobs_ == nullptr && !endless(own.workload)) jobs_ = load_watched(own.workload);
  simulation_ = must(Simulation::make(own, jobs_));
  fold_ = std::make_unique<MetricsFold>(simulation_->symbols(), metrics_options(own));
  simulation_->observe(*fold_);
  simulation_->observe(*log_);
  simulation_->observe(*story_);
  execution_ = must(simulation_->start());
  engine_ = execution_->engine();
  if (engine_ == nullptr) raise(Error{"this description has no turns to take"});
}

bool TurnByTurn::turn(const std::vector<JobId>* order) {
  if (over_) return false;
  if (order != nullptr) directions_->order = *order;
  directions_->given = order != nullptr;
  log_->last.clear();
  try {
    over_ = !engine_->turn();
  } catch (const PolicyFailure& failure) {
    over_ = true;
    raise(Error{failure.what()});
  }
  directions_->given = false;
  return !over_;
}

void TurnByTurn::use(const Choice& scheduling) {
  RunConfig checked = config_;
  checked.scheduling = scheduling;
  checked = must(complete_config(std::move(checked)));
  auto policy = must(plain_scheduling(config_.loader.get(), checked.scheduling, &symbols()));
  directions_->policy->replace(std::move(policy), engine_->view());
  engine_->ask_policies();
}

std::unique_ptr<TurnByTurn> TurnByTurn::fork() {
  auto copy = std::make_unique<TurnByTurn>(config_, jobs_);
  for (long long i = 0; i < engine_->arrived(); ++i) {
    if (copy->simulation_->source().peek() == nullptr) raise(Error{"the workload has changed"});
    copy->simulation_->source().pop();
  }
  // A copy to look ahead would not know the failures that are to come; this one does.
  Archive written;
  const bool saved = simulation_->backend().checkpoint(written);
  Archive read(written.bytes());
  if (!saved || !copy->simulation_->backend().checkpoint(read)) {
    raise(Error{"this run cannot be forked: its backend cannot be copied"});
  }
  const std::array<Observer*, 3> told = {copy->fold_.get(), copy->log_.get(), copy->story_.get()};
  must(tell_story(story_->bytes(), told));
  copy->log_->last = log_->last;
  directions_->heir = copy->directions_;
  try {
    Engine::Fork with;
    with.backend = &copy->simulation_->backend();
    with.source = &copy->simulation_->source();
    with.observers = {told.begin(), told.end()};
    // Nor does it go by what is believed of jobs: it is the same run.
    with.revise = [this](Job& job) { job.spec = engine_->jobs()[job.self].spec; };
    copy->forked_ = engine_->fork(with);
  } catch (const PolicyFailure& failure) {
    directions_->heir = nullptr;
    raise(Error{failure.what()});
  }
  directions_->heir = nullptr;
  copy->execution_.reset();
  copy->engine_ = copy->forked_.get();
  copy->ancestors_ = ancestors_;
  copy->ancestors_.push_back(simulation_);
  copy->over_ = over_;
  return copy;
}

}  // namespace muster::python
