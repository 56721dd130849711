// An engine that a test drives from outside, as a service does: time and events come in by hand,
// orders are collected, and the backend answers later.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "engine/engine.h"
#include "perf/product.h"
#include "support/scripted_policy.h"
#include "support/simulation.h"

namespace muster {

// Believes that every job runs at its recorded speed, and says nothing by itself.
class SilentBackend final : public Backend {
 public:
  bool answers_later() const override { return true; }
  bool has_external_events() const override { return true; }
  JobProgress act(const Command& command, Seconds now) override {
    JobProgress progress;
    progress.work = progress.saved_work = command.job->work_at(now);
    progress.rate = command.kind == CommandKind::kStop ? 0 : 1;
    const bool goes_on =
        command.kind == CommandKind::kUpdateRate || command.kind == CommandKind::kAdopt;
    progress.since = goes_on && !command.job->starting() ? now : kNever;
    return progress;
  }
  void dispatch(std::span<const Order> orders, Seconds) override {
    ordered.insert(ordered.end(), orders.begin(), orders.end());
  }

  std::vector<Order> ordered;
};

class Inbox final : public JobSource {
 public:
  const JobSpec* peek() override { return jobs_.empty() ? nullptr : &jobs_.front(); }
  void pop() override { jobs_.pop_front(); }
  bool finished() override { return false; }
  void put(JobSpec job) { jobs_.push_back(std::move(job)); }

 private:
  std::deque<JobSpec> jobs_;
};

// What runs is what the test wants: GPUs by number of job.
class DrivenEngine {
 public:
  static constexpr Symbol kMetric{1};  // that policies see

  explicit DrivenEngine(ClusterSpec cluster = uniform_cluster(2, 2),
                        const Choice& admission = {"accept-all"}) {
    Engine::Parts parts;
    parts.cluster = std::make_shared<const ClusterSpec>(std::move(cluster));
    parts.perf = multiply({});
    parts.pacing = make_events();
    parts.policy_sets.push_back(make_policy_set({"fifo"}, {"consolidated"}, admission));
    parts.policy_sets[0].scheduling =
        std::make_unique<ScriptedPolicy>([this](const View& view, Plan& plan) {
          for (const auto& [id, gpus] : wanted) {
            if (gpus > 0) add_request(view, plan, {id}, gpus);
          }
        });
    parts.backend = &backend;
    parts.source = &inbox;
    parts.observers = {&log, &listener_};
    parts.metrics = {kMetric};
    engine = std::make_unique<Engine>(std::move(parts));
  }

  void submit(Seconds now, Seconds duration, int most_gpus = 2) {
    inbox.put(stretchable_job(now, duration, most_gpus));
    turn(now);
  }
  // Wants the job to have so many GPUs from `now` on.
  void want(Seconds now, int job, int gpus) {
    wanted[job] = gpus;
    turn(now);
  }
  void turn(Seconds now) { engine->turn_at(now, {}); }
  void say(const JobEvent& event) {
    if (loud(event.kind)) {
      engine->turn_at(event.time, std::span(&event, 1));
    } else {
      engine->apply(event.time, std::span(&event, 1));
    }
  }
  void say(Seconds now, EventKind kind, int job, std::uint32_t launch, double saved = -1) {
    JobEvent event;
    event.time = now;
    event.kind = kind;
    event.job = JobId{static_cast<std::uint32_t>(job)};
    event.launch = launch;
    event.saved = saved;
    say(event);
  }
  void revise(Seconds now, int job, Revision what, double value) {
    JobEvent event;
    event.time = now;
    event.kind = EventKind::kRevised;
    event.job = JobId{static_cast<std::uint32_t>(job)};
    event.revision = what;
    event.value = value;
    say(event);
  }
  // Null if it is not among the active jobs.
  const Job* job(int id) const {
    const Slot slot = engine->jobs().find(JobId{static_cast<std::uint32_t>(id)});
    return slot == kNoSlot ? nullptr : &engine->jobs()[slot];
  }

  std::map<int, int> wanted;
  SilentBackend backend;
  Inbox inbox;
  RunLog log;
  std::vector<JobMetric> metrics;  // all that was told
  std::unique_ptr<Engine> engine;

 private:
  struct Listener final : Observer {
    explicit Listener(std::vector<JobMetric>& heard) : all(heard) {}
    void on_metric(const JobMetric& metric) override { all.push_back(metric); }
    std::vector<JobMetric>& all;
  };
  Listener listener_{metrics};
};

}  // namespace muster
