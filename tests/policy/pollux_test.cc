// Pollux on jobs that nobody has measured, and the placement that follows its choice of nodes.
#include <gtest/gtest.h>

#include "support/scripted_policy.h"
#include "support/simulation.h"

namespace muster {
namespace {

Scenario pollux_scenario() {
  Scenario scenario;
  scenario.cluster = uniform_cluster(4, 4);
  scenario.scheduling = {"pollux"};
  scenario.placement = {"as-planned"};
  scenario.pacing = {"slots", {{"length", "60"}}};
  scenario.perf = {{"scaling", {{"serial", "0.02"}}}, {"locality"}};
  return scenario;
}

TEST(Pollux, GivesALoneJobTheClusterAndSharesItWhenOthersCome) {
  Scenario scenario = pollux_scenario();
  scenario.jobs = {stretchable_job(0, 40000, 16), stretchable_job(1000, 40000, 16)};
  TestRun run(scenario);
  run.turn_to(900);
  EXPECT_EQ(run.engine().view().cluster.used_gpus(), 16);
  EXPECT_EQ(run.engine().view().jobs.running().size(), 1U);
  run.turn_to(3000);
  const View view = run.engine().view();
  EXPECT_EQ(view.cluster.used_gpus(), 16);
  for (const Slot slot : view.jobs.running()) {
    EXPECT_NEAR(view.jobs[slot].gpus.gpus(), 8, 2);
  }
  const RunLog& log = run.run();
  EXPECT_EQ(log.jobs.size(), 2U);
}

TEST(Pollux, KeepsJobsOnOneNodeWhereThatIsFaster) {
  Scenario scenario = pollux_scenario();
  scenario.perf = {{"scaling"}, {"locality", {{"across_nodes", "0.6"}}}};
  for (int i = 0; i < 4; ++i) scenario.jobs.push_back(stretchable_job(0, 40000, 4));
  TestRun run(scenario);
  run.turn_to(600);
  const View view = run.engine().view();
  for (const Slot slot : view.jobs.running()) {
    EXPECT_EQ(view.jobs[slot].gpus.nodes(), 1);
    EXPECT_EQ(view.jobs[slot].gpus.gpus(), 4);
  }
}

TEST(Pollux, RunsJobsOfAFixedSizeAtThatSize) {
  Scenario scenario = pollux_scenario();
  scenario.jobs = {job_of(0, 5000, 6), stretchable_job(0, 5000, 16), job_of(0, 5000, 3)};
  const RunLog log = simulate(scenario);
  ASSERT_EQ(log.jobs.size(), 3U);
  for (const auto& [decision, gpus] : log.placements) {
    if (decision.job == JobId{0}) {
      EXPECT_EQ(gpus.gpus(), 6);
    }
    if (decision.job == JobId{2}) {
      EXPECT_EQ(gpus.gpus(), 3);
    }
  }
}

TEST(PolluxAsCoded, RunsJobsThatNobodyHasMeasuredAsTheModelSays) {
  Scenario scenario = pollux_scenario();
  scenario.scheduling = {"pollux-as-coded"};
  scenario.perf = {};
  scenario.jobs = {job_of(10, 100, 1)};
  const RunLog log = simulate(scenario);
  ASSERT_EQ(log.jobs.size(), 1U);
  // It starts at 60 and does nothing for 30 s; rates are 1 whatever its GPUs.
  EXPECT_DOUBLE_EQ(log.job(0).end, 60 + 30 + 100);
}

// A plan with node hints: who sits where.
class NodeHinting final : public SchedulingPolicy {
 public:
  SchedulingTraits traits() const override {
    return {.preemptive = true, .stable_between_events = false};
  }
  void schedule(const View& view, Plan& plan) override {
    const bool later = view.now >= 100;
    for (const Slot slot : view.jobs.active()) {
      const bool first = view.jobs[slot].spec.id == JobId{0};
      plan.add(AllocationRequest::alone(slot, 2));
      if (first && !later) plan.hint_node(slot, NodeId{1}, 2);
      if (first && later) {
        plan.hint_node(slot, NodeId{1}, 1);
        plan.hint_node(slot, NodeId{0}, 1);
      }
      if (!first) plan.hint_node(slot, NodeId{later ? 1U : 0U}, 2);
    }
  }
  Seconds wake(const View& view) const override { return view.now < 100 ? 100 : kNever; }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<NodeHinting>(*this);
  }
};

TEST(AsPlanned, PutsEverybodyWhereThePlanSays) {
  Scenario scenario;
  scenario.cluster = uniform_cluster(2, 4);
  scenario.jobs = {job_of(0, 500, 2), job_of(0, 500, 2)};
  scenario.policy_sets = [] {
    std::vector<PolicySet> made;
    made.push_back(make_policy_set({"fifo"}, {"as-planned"}));
    made.back().scheduling = std::make_unique<NodeHinting>();
    return made;
  };
  TestRun run(scenario);
  run.engine().turn();
  const auto gpus_of = [&](int job) {
    for (const Slot slot : run.engine().view().jobs.running()) {
      const Job& one = run.engine().view().jobs[slot];
      if (one.spec.id == JobId{static_cast<std::uint32_t>(job)}) return one.gpus;
    }
    return GpuSet();
  };
  EXPECT_EQ(gpus_of(0)[0].node, NodeId{1});
  EXPECT_EQ(gpus_of(1)[0].node, NodeId{0});
  const GpuSet before = gpus_of(0);
  run.engine().turn();  // at 100
  ASSERT_EQ(gpus_of(0).nodes(), 2);
  EXPECT_EQ(gpus_of(1)[0].node, NodeId{1});
  // The GPU that it keeps on its old node is one it had.
  for (int i = 0; i < 2; ++i) {
    const GpuSet now = gpus_of(0);
    if (now[i].node == NodeId{1}) {
      EXPECT_EQ(now[i].mask & before[0].mask, now[i].mask);
    }
  }
}

}  // namespace
}  // namespace muster
