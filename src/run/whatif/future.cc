#include "run/whatif/future.h"

#include <algorithm>
#include <unordered_map>

#include "backend/sim/life_backend.h"
#include "backend/sim/sim_backend.h"

namespace muster {
namespace {

// Where the jobs are in the world.
class Places {
 public:
  explicit Places(const EngineWorld& world) {
    places_.reserve(world.jobs.size());
    for (std::size_t i = 0; i < world.jobs.size(); ++i) {
      places_.emplace(static_cast<std::uint32_t>(world.jobs[i].spec.id), i);
    }
  }
  // The number of jobs where it is not there.
  std::size_t of(JobId id) const {
    const auto found = places_.find(static_cast<std::uint32_t>(id));
    return found == places_.end() ? places_.size() : found->second;
  }

 private:
  std::unordered_map<std::uint32_t, std::size_t> places_;
};

// Jobs that are there already but that the engine has not seen.
class Newcomers final : public JobSource {
 public:
  Newcomers() = default;
  // Those from `first` on.
  Newcomers(const EngineWorld& world, JobId first) {
    for (const Job& job : world.jobs) {
      if (job.spec.id < first) continue;
      jobs_.push_back(job.spec);
      jobs_.back().arrival = world.now;
    }
  }
  const JobSpec* peek() override { return next_ < jobs_.size() ? &jobs_[next_] : nullptr; }
  void pop() override { ++next_; }
  bool finished() override { return next_ == jobs_.size(); }
  bool numbers_jobs() const override { return true; }

 private:
  std::vector<JobSpec> jobs_;
  std::size_t next_ = 0;
};

// Notes what becomes of the jobs, by their place in the world.
class Lives final : public Observer {
 public:
  Lives(const EngineWorld& world, const Places& places, JobId newcomers_from,
        const std::vector<JobId>& starts_of, bool takes_time)
      : places_(places),
        takes_time_(takes_time),
        lives_(world.jobs.size()),
        awaited_(world.jobs.size(), false),
        waits_(world.jobs.size(), false),
        came_(world.jobs.size(), false) {
    for (std::size_t i = 0; i < lives_.size(); ++i) {
      came_[i] = world.jobs[i].spec.id < newcomers_from;
      lives_[i].start = world.jobs[i].first_start;
      waits_[i] = !world.jobs[i].running();
    }
    for (const JobId job : starts_of) {
      const std::size_t place = places.of(job);
      if (place == lives_.size() || awaited_[place]) continue;
      // Of one that lost its GPUs, the next start is what matters.
      if (world.jobs[place].waiting()) lives_[place].start = kNever;
      if (lives_[place].start != kNever) continue;
      awaited_[place] = true;
      ++left_;
    }
    only_starts_ = !starts_of.empty();
  }
  void on_decision(const Decision& decision) override {
    const bool queues = decision.action == Action::kAdmit || decision.action == Action::kHold;
    if (!queues && decision.action != Action::kStart) return;
    const std::size_t place = places_.of(decision.job);
    if (queues) came_[place] = true;
    if (queues) return;
    if (waits_[place]) lives_[place].turn = ++turns_;
    waits_[place] = false;
    if (takes_time_) {
      decided_.push_back(place);
    } else {
      begin(place, decision.time);
    }
  }
  // Where starts take time: which jobs have begun since the last look.
  void look(const Engine& copy, const EngineWorld& world) {
    std::erase_if(decided_, [&](std::size_t place) {
      const Slot slot = copy.jobs().find(world.jobs[place].spec.id);
      if (slot == kNoSlot) return true;
      const Job& job = copy.jobs()[slot];
      if (job.running() && job.starting()) return false;
      if (job.running()) begin(place, job.held_since);
      return true;
    });
  }
  void on_job_end(const JobRecord& job) override {
    const std::size_t place = places_.of(job.id);
    Life& life = lives_[place];
    if (takes_time_ && job.start != kNever) begin(place, job.start);
    if (job.status == JobState::kFinished) life.end = job.end;
    // In a copy no other job comes, so a job that is left waiting is given up. It was not turned
    // away.
    if (came_[place] && job.reason == Reason::kNeverFits) {
      life.stuck = true;
    } else if (job.status == JobState::kRefused) {
      life.refused = job.reason;
    }
  }
  // All that was asked for is known.
  bool enough() const { return only_starts_ && left_ == 0; }
  std::vector<Life> take() { return std::move(lives_); }

 private:
  void begin(std::size_t place, Seconds at) {
    lives_[place].start = std::min(lives_[place].start, at);
    if (awaited_[place]) --left_;
    awaited_[place] = false;
  }

  const Places& places_;
  bool takes_time_;
  std::vector<std::size_t> decided_;  // jobs that were given GPUs and have not begun to use them
  std::vector<Life> lives_;
  std::vector<bool> awaited_;
  std::vector<bool> waits_;  // since now
  std::vector<bool> came_;   // nothing spoke against it
  std::size_t turns_ = 0;    // starts of those
  std::size_t left_ = 0;
  bool only_starts_ = false;
};

// The cluster as a new simulator must see it: what was scheduled for the past has happened.
std::shared_ptr<const ClusterSpec> from_now_on(std::shared_ptr<const ClusterSpec> cluster,
                                               Seconds now) {
  const auto past = [now](const NodeChange& change) { return change.time <= now; };
  if (std::none_of(cluster->schedule.begin(), cluster->schedule.end(), past)) return cluster;
  auto spec = std::make_shared<ClusterSpec>(*cluster);
  std::erase_if(spec->schedule, past);
  return spec;
}

// A simulated cluster that goes on from here. What it is told of which jobs run where is all it
// knows, except for a fork of the one that the run has, in which launches are on the way.
std::unique_ptr<Backend> backend_of(const EngineWorld& world, const OutlookParts& parts,
                                    const std::shared_ptr<const ClusterSpec>& cluster) {
  if (parts.running != nullptr && parts.backend != nullptr) return parts.backend->fork();
  const SimParts sim{.cluster = cluster, .perf = parts.perf, .cost = parts.cost};
  if (parts.life.any()) {
    auto backend = std::make_unique<LifeBackend>(sim, mean_of(parts.life));
    backend->begin_at(world.now);
    return backend;
  }
  auto backend = std::make_unique<SimBackend>(sim);
  backend->begin_at(world.now);
  return backend;
}

EngineOptions options_of(const EngineWorld& world, const OutlookParts& parts,
                         const OutlookOptions& options, bool roughly) {
  constexpr double kCalm = 0.05;
  EngineOptions own = parts.options;
  own.until_left.reset();
  own.close_look = false;
  // Where a run stops being simulated says nothing of its jobs.
  own.until = world.now + options.horizon;
  own.calm = roughly ? kCalm : 0;
  own.calm_since = world.now;
  return own;
}

std::unique_ptr<Engine> fork_of(const EngineWorld& world, const Places& places,
                                const OutlookParts& parts, const EngineOptions& options,
                                Backend& backend, Newcomers& newcomers, Lives& lives) {
  const Engine& running = *parts.running;
  const auto as_in_world = [&](Job& job) {
    const std::size_t place = places.of(job.spec.id);
    if (place < world.jobs.size()) job.spec = world.jobs[place].spec;
  };
  std::unique_ptr<Engine> copy = running.fork({.backend = &backend,
                                               .source = &newcomers,
                                               .observers = {&lives},
                                               .new_backend = parts.backend == nullptr,
                                               .revise = as_in_world,
                                               .options = options,
                                               .now = world.now});
  std::vector<JobEvent> news;
  for (const WorldNode& node : world.nodes) {
    if (node.drained == running.cluster().drained(node.node)) continue;
    JobEvent& event = news.emplace_back();
    event.time = world.now;
    event.kind = node.drained ? EventKind::kDrained : EventKind::kUndrained;
    event.node = node.node;
  }
  // Without news the next turn is that of the running engine.
  if (!news.empty()) copy->apply(world.now, news);
  return copy;
}

Result<std::unique_ptr<Engine>> adopter_of(const EngineWorld& world, const OutlookParts& parts,
                                           const EngineOptions& options, Backend& backend,
                                           Newcomers& newcomers, Lives& lives,
                                           std::shared_ptr<const ClusterSpec> cluster) {
  Engine::Parts own;
  own.cluster = std::move(cluster);
  own.perf = parts.perf;
  own.pacing = parts.pacing->clone();
  for (const auto& one : parts.policy_sets) own.policy_sets.push_back(one->clone());
  own.active = parts.active;
  if (parts.selector != nullptr) own.selector = parts.selector->clone();
  if (parts.scaling != nullptr) own.scaling = parts.scaling->clone();
  own.forecast = parts.forecast;
  own.prices = parts.prices;
  own.metrics = parts.metrics;
  own.metric_names = parts.metric_names;
  own.backend = &backend;
  own.source = &newcomers;
  own.observers = {&lives};
  own.options = options;
  auto copy = std::make_unique<Engine>(std::move(own));
  EngineWorld known;
  const bool some_come = !world.jobs.empty() && world.jobs.back().spec.id >= parts.newcomers_from;
  if (some_come) {
    known = world;
    std::erase_if(known.jobs, [&](const Job& job) { return job.spec.id >= parts.newcomers_from; });
  }
  if (Status adopted = copy->adopt(some_come ? known : world); !adopted) return adopted.error();
  return copy;
}

}  // namespace

std::shared_ptr<const Engine> frozen_copy(const Engine& running, const OutlookParts& parts) {
  struct Frozen {
    explicit Frozen(SimParts sim) : backend(std::move(sim)) {}
    SimBackend backend;
    Newcomers nobody;
    std::unique_ptr<Engine> engine;
  };
  const auto frozen = std::make_shared<Frozen>(
      SimParts{.cluster = parts.cluster, .perf = parts.perf, .cost = parts.cost});
  frozen->backend.begin_at(running.now());
  frozen->engine =
      running.fork({.backend = &frozen->backend, .source = &frozen->nobody, .new_backend = true});
  return {frozen, frozen->engine.get()};
}

Result<std::vector<Life>> live_on(const EngineWorld& world, const OutlookParts& parts,
                                  const OutlookOptions& options, bool roughly) {
  auto cluster = from_now_on(parts.cluster, world.now);
  const std::unique_ptr<Backend> backend = backend_of(world, parts, cluster);
  const Places places(world);
  Lives lives(world, places, parts.newcomers_from, options.starts_of, parts.life.any());
  const EngineOptions own = options_of(world, parts, options, roughly);
  Newcomers newcomers(world, parts.newcomers_from);
  std::unique_ptr<Engine> copy;
  if (parts.running != nullptr) {
    copy = fork_of(world, places, parts, own, *backend, newcomers, lives);
  } else {
    auto adopter = adopter_of(world, parts, own, *backend, newcomers, lives, std::move(cluster));
    if (!adopter) return adopter.error();
    copy = std::move(*adopter);
  }
  while (!lives.enough() && copy->turn()) {
    if (options.keep_going && !options.keep_going()) {
      return Error{"there was not enough time to look so far ahead"};
    }
    lives.look(*copy, world);
  }
  return lives.take();
}

}  // namespace muster
