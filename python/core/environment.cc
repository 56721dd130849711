#include "core/environment.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/parts.h"
#include "run/config/plugin_tables.h"

namespace muster::python {

class Environment::PickPolicy final : public SchedulingPolicy {
 public:
  explicit PickPolicy(std::shared_ptr<Picks> picks) : picks_(std::move(picks)) {}
  SchedulingTraits traits() const override {
    return {.stable_between_events = false, .work_conserving = false};
  }
  void schedule(const View& view, Plan& plan) override {
    for (const Slot slot : picks_->jobs) {
      const Job& job = view.jobs[slot];
      if (!job.waiting()) continue;
      plan.add(AllocationRequest::alone(slot, job.spec.gpus, job.spec.gpu_type));
    }
    picks_->jobs.clear();
  }
  void on_job(JobMoment moment, Slot slot, const View&) override {
    if (moment != JobMoment::kStarted) picks_->rests = false;
    if (moment == JobMoment::kLeft) std::erase(picks_->jobs, slot);
  }
  // Whatever fits is worth a turn, unless the player said that it is not.
  Seconds wake(const View& view) const override {
    if (picks_->rests) return kNever;
    const bool fits = std::any_of(
        view.jobs.waiting().begin(), view.jobs.waiting().end(),
        [&](Slot slot) { return view.jobs[slot].spec.gpus <= view.cluster.free_gpus(); });
    return fits ? view.now + picks_->latency : kNever;
  }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<PickPolicy>(*this);
  }

 private:
  std::shared_ptr<Picks> picks_;
};

// Makes the player the scheduling policy of a description.
class Environment::PickLoader final : public PolicyLoader {
 public:
  explicit PickLoader(std::shared_ptr<Picks> picks) : picks_(std::move(picks)) {}
  bool knows(std::string_view kind, std::string_view) const override {
    return kind == "scheduling";
  }
  Result<std::unique_ptr<AdmissionPolicy>> admission(const Choice&, const Symbols*) const override {
    return Error{"only the scheduling policy is played"};
  }
  Result<std::unique_ptr<SchedulingPolicy>> scheduling(const Choice&,
                                                       const Symbols*) const override {
    return std::unique_ptr<SchedulingPolicy>(std::make_unique<PickPolicy>(picks_));
  }
  Result<std::unique_ptr<PlacementPolicy>> placement(const Choice&, const Symbols*) const override {
    return Error{"only the scheduling policy is played"};
  }

 private:
  std::shared_ptr<Picks> picks_;
};

Environment::Environment(RunConfig config, std::shared_ptr<const SharedJobs> jobs,
                         EnvironmentOptions options)
    : config_(std::move(config)),
      jobs_(std::move(jobs)),
      options_(options),
      picks_(std::make_shared<Picks>()) {
  picks_->latency = options_.latency;
  config_.loader = std::make_shared<PickLoader>(picks_);
  config_.scheduling = {"the player", {}};
  must(complete_config(config_));  // what is wrong with it is said here, not at the first episode
}

void Environment::reset(long long seed, const std::function<bool()>& keep_going) {
  RunConfig config = config_;
  config.seed = seed;
  config = must(complete_config(std::move(config)));
  const auto jobs = jobs_ != nullptr ? jobs_ : must(load_jobs(config.workload, keep_going));
  // Where this fails, there is no episode.
  engine_ = nullptr;
  over_ = true;
  seen_.clear();
  execution_.reset();
  *picks_ = {.jobs = {}, .latency = options_.latency};
  simulation_ = must(Simulation::make(config, jobs));
  fold_ = std::make_unique<MetricsFold>(simulation_->symbols(), metrics_options(config));
  simulation_->observe(*fold_);
  execution_ = must(simulation_->start());
  engine_ = execution_->engine();
  if (engine_ == nullptr) raise(Error{"this description has no turns"});
  gpus_ = std::max(1, simulation_->cluster().total_gpus());
  reward_ = 0;
  over_ = false;
  go_on();
}

const Engine& Environment::started() const {
  if (engine_ == nullptr) raise(Error{"there is no episode yet: call reset() first"});
  return *engine_;
}

bool Environment::decides() const {
  return !picks_->rests && std::any_of(seen_.begin(), seen_.end(), [this](Slot slot) {
    return engine_->jobs()[slot].spec.gpus <= free_;
  });
}

void Environment::look() {
  seen_.clear();
  const JobTable& jobs = engine_->jobs();
  for (const Slot slot : jobs.waiting()) {
    if (seen_.size() == options_.window) break;
    if (std::find(picks_->jobs.begin(), picks_->jobs.end(), slot) == picks_->jobs.end()) {
      seen_.push_back(slot);
    }
  }
}

bool Environment::turn() {
  const Seconds before = engine_->now();
  const auto there = static_cast<double>(engine_->jobs().active().size());
  const bool goes_on = engine_->turn();
  reward_ -= there * (engine_->now() - before) * options_.reward_scale;
  return goes_on;
}

void Environment::go_on() {
  do {
    if (!turn()) {
      over_ = true;
      seen_.clear();
      return;
    }
    free_ = engine_->cluster().free_gpus();
    look();
  } while (!decides());
}

void Environment::check(long long action) const {
  if (action >= 0 && static_cast<std::size_t>(action) <= options_.window) return;
  raise(Error{fmt::format("action {}: expected 0 to {}", action, options_.window)});
}

Environment::Step Environment::step(std::size_t action) {
  started();
  if (over_) raise(Error{"the episode is over: call reset()"});
  reward_ = 0;
  const JobTable& jobs = engine_->jobs();
  const auto fits = [&](Slot slot) { return jobs[slot].spec.gpus <= free_; };
  auto picked = action < seen_.size() && fits(seen_[action])
                    ? seen_.begin() + static_cast<std::ptrdiff_t>(action)
                    : seen_.end();
  // Where nothing runs and nothing is picked, waiting might be for ever.
  if (picked == seen_.end() && picks_->jobs.empty() && jobs.running().empty()) {
    picked = std::find_if(seen_.begin(), seen_.end(), fits);
  }
  if (picked != seen_.end()) {
    free_ -= jobs[*picked].spec.gpus;
    picks_->jobs.push_back(*picked);
    look();
    if (decides()) return {0, false};
  } else {
    picks_->rests = true;
  }
  go_on();
  return {reward_, over_};
}

void Environment::observe(float* features) const {
  std::fill(features, features + this->features(), 0.0F);
  if (over_) return;
  const auto squeezed = [](double seconds) {
    // A second is 0, a year nearly 1.
    return static_cast<float>(std::min(1.0, std::log1p(std::max(0.0, seconds)) / 17.5));
  };
  const JobTable& jobs = engine_->jobs();
  for (std::size_t i = 0; i < seen_.size(); ++i) {
    const Job& job = jobs[seen_[i]];
    float* const at = features + i * kJobFeatures;
    at[0] = 1;
    at[1] = std::min(1.0F, static_cast<float>(job.spec.gpus) / static_cast<float>(gpus_));
    at[2] = squeezed(engine_->now() - job.waiting_since);
    if (options_.lengths) {
      at[3] =
          squeezed(job.spec.estimate > 0 ? job.spec.estimate : job.remaining_at(engine_->now()));
    }
    at[4] = job.spec.gpus <= free_ ? 1.0F : 0.0F;
  }
  float* const at = features + options_.window * kJobFeatures;
  at[0] = std::clamp(static_cast<float>(free_) / static_cast<float>(gpus_), 0.0F, 1.0F);
  const auto part = [](std::size_t count) {
    return static_cast<float>(count) / (static_cast<float>(count) + 10.0F);
  };
  at[1] = part(jobs.waiting().size());
  at[2] = part(jobs.running().size());
  at[3] = part(picks_->jobs.size());
}

void Environment::mask(char* actions) const {
  std::fill(actions, actions + options_.window + 1, char{0});
  actions[options_.window] = 1;
  if (over_) return;
  for (std::size_t i = 0; i < seen_.size(); ++i) {
    actions[i] = engine_->jobs()[seen_[i]].spec.gpus <= free_ ? 1 : 0;
  }
}

}  // namespace muster::python
