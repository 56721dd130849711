// A turn's commands: one per job, in the order that backends count on.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/sim/sim_backend.h"
#include "perf/product.h"
#include "support/scripted_policy.h"
#include "support/simulation.h"

namespace muster {
namespace {

using ::testing::ElementsAre;

// Writes every command down: "20 move 1 beside 2".
class Listener final : public Backend {
 public:
  explicit Listener(SimParts parts) : inner_(std::move(parts)) {}
  JobProgress act(const Command& command, Seconds now) override {
    constexpr const char* kNames[] = {"start", "stop", "resize", "move", "update"};
    std::string line = fmt::format("{} {} {}", now, kNames[static_cast<int>(command.kind)],
                                   index(command.job->spec.id));
    for (const JobSpec* other : command.context.neighbours) {
      line += fmt::format(" beside {}", index(other->id));
    }
    lines.push_back(line);
    return inner_.act(command, now);
  }
  Seconds advance(Seconds until, bool stop_at_event, std::vector<JobEvent>& events) override {
    return inner_.advance(until, stop_at_event, events);
  }
  Seconds next_event() override { return inner_.next_event(); }

  std::vector<std::string> lines;

 private:
  SimBackend inner_;
};

std::vector<std::string> commands_of(const ScriptedPolicy::Script& script,
                                     std::vector<Seconds> wakes, std::vector<JobSpec> jobs,
                                     int nodes) {
  Engine::Parts parts;
  parts.cluster = std::make_shared<ClusterSpec>(uniform_cluster(nodes, 1));
  parts.perf = multiply({});
  parts.pacing = make_events();
  parts.policy_sets.push_back(make_policy_set({"fifo"}));
  parts.policy_sets[0].scheduling = std::make_unique<ScriptedPolicy>(script, std::move(wakes));
  Listener backend({parts.cluster, parts.perf});
  ListSource source(jobs);
  parts.backend = &backend;
  parts.source = &source;
  Engine engine(std::move(parts));
  EXPECT_TRUE(engine.run());
  return backend.lines;
}

TEST(Netting, GroupsAreToldOnceAndInFull) {
  const auto lines = commands_of(
      [](const View& view, Plan& plan) {
        add_request(view, plan, {0, 1, 2}, 1);
      },
      {}, {job_of(0, 10), job_of(0, 10), job_of(0, 10)}, 1);
  ASSERT_GE(lines.size(), 3U);
  EXPECT_EQ(lines[0], "0 start 0 beside 2 beside 1");
  EXPECT_EQ(lines[1], "0 start 1 beside 0 beside 2");
  EXPECT_EQ(lines[2], "0 start 2 beside 1 beside 0");
}

TEST(Netting, WhoStaysHearsOfNewNeighboursAfterTheStarts) {
  const auto lines = commands_of(
      [](const View& view, Plan& plan) {
        if (view.now < 5) {
          add_request(view, plan, {0, 1}, 1);
        } else {
          add_request(view, plan, {0, 2}, 1);
        }
        if (view.now > 5) add_request(view, plan, {1}, 1);
      },
      {5, 6}, {job_of(0, 10), job_of(0, 10), job_of(0, 10)}, 1);
  const std::vector<std::string> turn(lines.begin() + 2, lines.begin() + 5);
  EXPECT_THAT(turn, ElementsAre("5 stop 1", "5 start 2 beside 0", "5 update 0 beside 2"));
}

}  // namespace
}  // namespace muster
