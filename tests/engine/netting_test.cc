// A turn's commands: one per job, in the order that backends count on.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/sim/sim_backend.h"
#include "perf/product.h"
#include "support/driven_engine.h"
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

TEST(Orders, OfATurnAreNettedAndSorted) {
  DrivenEngine driven(uniform_cluster(2, 2));
  driven.submit(0, 100);
  driven.submit(0, 100);
  driven.submit(0, 100);
  driven.wanted = {{0, 2}, {1, 1}, {2, 0}};
  driven.turn(1);
  driven.say(2, EventKind::kStarted, 0, 1);
  driven.say(2, EventKind::kStarted, 1, 1);
  driven.backend.ordered.clear();
  // The third starts, the first leaves, the second grows: in another order than they are named.
  driven.wanted = {{2, 1}, {1, 2}, {0, 0}};
  driven.turn(10);
  ASSERT_EQ(driven.backend.ordered.size(), 3U);
  const std::vector<Order>& orders = driven.backend.ordered;
  EXPECT_EQ(orders[0].kind, CommandKind::kStop);
  EXPECT_EQ(orders[0].run, (RunId{JobId{0}, 1}));
  EXPECT_EQ(orders[1].kind, CommandKind::kResize);
  EXPECT_EQ(orders[1].run, (RunId{JobId{1}, 2}));
  EXPECT_EQ(orders[1].before, (RunId{JobId{1}, 1}));
  EXPECT_EQ(orders[1].gpus.gpus(), 2);
  EXPECT_EQ(orders[2].kind, CommandKind::kStart);
  EXPECT_EQ(orders[2].run, (RunId{JobId{2}, 1}));
}

TEST(Orders, OfALaunchThatIsTakenBackAtOnceNeverGoOut) {
  TurnOrders orders;
  Order start;
  start.run = {JobId{1}, 1};
  orders.add(start);
  Order move;
  move.kind = CommandKind::kMove;
  move.run = {JobId{1}, 2};
  move.before = {JobId{1}, 1};
  orders.add(move);
  ASSERT_EQ(orders.sorted().size(), 1U);
  EXPECT_EQ(orders.sorted()[0].kind, CommandKind::kStart);
  EXPECT_EQ(orders.sorted()[0].run, (RunId{JobId{1}, 2}));
  Order unsent;
  EXPECT_TRUE(orders.withdraw({JobId{1}, 2}, unsent));
  EXPECT_TRUE(orders.empty());
  EXPECT_FALSE(orders.withdraw({JobId{1}, 2}, unsent));
}

}  // namespace
}  // namespace muster
