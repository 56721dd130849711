#include "daemon/forecast.h"

#include <utility>

#include "backend/sim/sim_backend.h"

namespace muster {
namespace {

class FirstStart final : public Observer {
 public:
  explicit FirstStart(JobId job) : job_(job) {}
  void on_decision(const Decision& decision) override {
    if (decision.job == job_ && decision.action == Action::kStart && !at_) at_ = decision.time;
  }
  std::optional<Seconds> at() const { return at_; }

 private:
  JobId job_;
  std::optional<Seconds> at_;
};

}  // namespace

std::optional<Seconds> expected_start(LivePlan plan, EngineWorld world, JobId job, double scale,
                                      std::chrono::milliseconds limit) {
  const auto until = std::chrono::steady_clock::now() + limit;
  for (Job& one : world.jobs) {
    if (one.starting()) one.since = world.now;
    if (one.held_since == kNever) one.held_since = world.now;
    one.ended = one.running() ? one.launch - 1 : one.launch;
    const double done = one.running() ? one.work_at(world.now) : one.work;
    // One that was to be over by now is believed to need a tenth of its time more.
    const double left = std::max(one.total_work - done, 0.1 * one.total_work);
    one.total_work = done + scale * left;
    one.spec.duration = one.total_work;
    one.spec.believed = false;  // here it is the truth
  }
  SimBackend backend({plan.cluster, plan.parts.perf, std::make_shared<const RestartCost>(), {}});
  ListSource no_more({});
  FirstStart start(job);
  Engine::Parts parts = std::move(plan.parts);
  parts.backend = &backend;
  parts.source = &no_more;
  parts.observers = {&start};
  Engine engine(std::move(parts));
  if (!engine.adopt(world)) return std::nullopt;
  while (!start.at() && std::chrono::steady_clock::now() < until && engine.turn()) {
  }
  return start.at();
}

}  // namespace muster
