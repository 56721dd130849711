// Each placement rule on a small cluster whose answer can be seen by eye.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/scripted_policy.h"
#include "support/simulation.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Free GPUs by node, on nodes of `gpus` each; the lowest ones are taken.
struct Layout {
  Layout(int gpus, const std::vector<int>& free)
      : cluster(std::make_shared<const ClusterSpec>(
            uniform_cluster(static_cast<int>(free.size()), gpus))) {
    for (std::size_t i = 0; i < free.size(); ++i) {
      const NodeId node{static_cast<std::uint32_t>(i)};
      GpuSet taken;
      taken.add(node, lowest_bits(cluster.free_mask(node), gpus - free[i]));
      if (taken.gpus() > 0) cluster.take(taken, kNoSymbol);
    }
  }
  // GPUs given by node, in order of node; empty if the job has to wait.
  std::vector<std::pair<int, int>> place(const Choice& choice, const JobSpec& job,
                                         const Choice& perf = {"ideal"}) {
    JobTable jobs;
    const Slot slot = jobs.add(job);
    jobs.set_state(slot, JobState::kQueued);
    const auto model = make_perf(perf, symbols);
    PlacementDraft draft(jobs, cluster);
    Plan plan;
    plan.reset(cluster.free_gpus(), Plan::Depth::kAll);
    plan.add(AllocationRequest::alone(slot, jobs[slot].spec.gpus));
    make_placement(choice)->place({0, 0, jobs, cluster, *model}, {}, plan, draft);
    std::vector<std::pair<int, int>> given;
    if (const GpuSet* gpus = draft.holding(slot)) {
      for (int i = 0; i < gpus->nodes(); ++i) {
        given.emplace_back(static_cast<int>((*gpus)[i].node), (*gpus)[i].count());
      }
    }
    std::sort(given.begin(), given.end());
    reason = draft.blocked() != nullptr ? draft.blocked()->reason : Reason::kNone;
    return given;
  }

  Symbols symbols;
  ClusterState cluster;
  Reason reason = Reason::kNone;
};

using OnNode = std::pair<int, int>;  // node, GPUs

TEST(Consolidated, TakesTheTightestNodeAndElseAsFewAsPossible) {
  EXPECT_THAT(Layout(8, {8, 3, 4, 8}).place({"consolidated"}, job_of(0, 1, 3)),
              ElementsAre(OnNode(1, 3)));
  EXPECT_THAT(Layout(8, {8, 3, 4, 8}).place({"consolidated"}, job_of(0, 1, 5)),
              ElementsAre(OnNode(0, 5)));
  // 10 needs two nodes: a whole one, and the tightest for the other two.
  EXPECT_THAT(Layout(8, {8, 3, 2, 8}).place({"consolidated"}, job_of(0, 1, 10)),
              ElementsAre(OnNode(0, 8), OnNode(2, 2)));
  EXPECT_THAT(Layout(4, {1, 2, 3, 1}).place({"consolidated"}, job_of(0, 1, 7)),
              ElementsAre(OnNode(0, 1), OnNode(1, 2), OnNode(2, 3), OnNode(3, 1)));
}

TEST(Consolidated, CanInsistOnOneNode) {
  Layout layout(4, {3, 3});
  EXPECT_THAT(layout.place({"consolidated", {{"one_node", "true"}}}, job_of(0, 1, 4)), IsEmpty());
  EXPECT_EQ(layout.reason, Reason::kFragmented);
  EXPECT_THAT(Layout(4, {3, 3}).place({"consolidated"}, job_of(0, 1, 4)),
              ElementsAre(OnNode(0, 3), OnNode(1, 1)));
  EXPECT_THAT(layout.place({"consolidated"}, job_of(0, 1, 7)), IsEmpty());
  EXPECT_EQ(layout.reason, Reason::kNotEnoughFree);
}

TEST(FirstGpu, TakesTheLowestNumbers) {
  EXPECT_THAT(Layout(4, {1, 0, 2, 4}).place({"first-gpu"}, job_of(0, 1, 4)),
              ElementsAre(OnNode(0, 1), OnNode(2, 2), OnNode(3, 1)));
}

TEST(Scattered, TakesFromAsManyNodesAsPossible) {
  EXPECT_THAT(Layout(4, {4, 1, 2, 0}).place({"scattered"}, job_of(0, 1, 3)),
              ElementsAre(OnNode(0, 1), OnNode(1, 1), OnNode(2, 1)));
  EXPECT_THAT(Layout(4, {4, 1, 2, 0}).place({"scattered"}, job_of(0, 1, 6)),
              ElementsAre(OnNode(0, 3), OnNode(1, 1), OnNode(2, 2)));
}

TEST(ProfileGuided, ConsolidatesOnlyWhoLosesSpeedOtherwise) {
  const Choice sensitive = {"locality", {{"across_nodes", "0.3"}}};
  const Choice tolerant = {"locality", {{"across_nodes", "0.01"}}};
  EXPECT_THAT(Layout(4, {1, 4, 2}).place({"profile-guided"}, job_of(0, 1, 3), sensitive),
              ElementsAre(OnNode(1, 3)));
  EXPECT_THAT(Layout(4, {1, 4, 2}).place({"profile-guided"}, job_of(0, 1, 3), tolerant),
              ElementsAre(OnNode(0, 1), OnNode(2, 2)));
}

TEST(Bebop, TakesThePlaceWhereTheJobRunsFastest) {
  const Choice local = {"locality"};
  EXPECT_THAT(Layout(4, {1, 2, 4}).place({"bebop"}, job_of(0, 1, 3), local),
              ElementsAre(OnNode(2, 3)));
  // Where all places are equal, whole nodes are not broken up.
  EXPECT_THAT(Layout(4, {1, 2, 4}).place({"bebop"}, job_of(0, 1, 3)),
              ElementsAre(OnNode(0, 1), OnNode(1, 2)));
}

TEST(Bebop, PrefersTheFasterType) {
  Symbols symbols;
  ClusterSpec spec = uniform_cluster(2, 4);
  spec.nodes[0].gpu_type = symbols.intern("k80");
  spec.nodes[1].gpu_type = symbols.intern("v100");
  Layout layout(4, {});
  layout.cluster = ClusterState(std::make_shared<const ClusterSpec>(spec));
  layout.symbols = std::move(symbols);
  const Choice speeds = {"gpu-types", {{"speeds", "k80=0.25,v100=1"}}};
  EXPECT_THAT(layout.place({"bebop"}, job_of(0, 1, 2), speeds), ElementsAre(OnNode(1, 2)));
}

TEST(WholeNodes, GivesLargeJobsWholeNodesOrNothing) {
  EXPECT_THAT(Layout(4, {3, 4, 4, 2}).place({"whole-nodes"}, job_of(0, 1, 10)),
              ElementsAre(OnNode(0, 2), OnNode(1, 4), OnNode(2, 4)));
  Layout layout(4, {3, 4, 3, 2});
  EXPECT_THAT(layout.place({"whole-nodes"}, job_of(0, 1, 10)), IsEmpty());
  EXPECT_EQ(layout.reason, Reason::kFragmented);
  EXPECT_THAT(Layout(4, {3, 4, 3, 2}).place({"consolidate-first"}, job_of(0, 1, 10)),
              ElementsAre(OnNode(0, 3), OnNode(1, 4), OnNode(2, 3)));
}

// Its search takes from each node up to the whole demand, and fails where the sum overshoots.
TEST(Blox, HasTheDefectsOfTheOriginal) {
  Layout layout(2, {1, 2, 2});
  EXPECT_THAT(layout.place({"blox-as-coded"}, job_of(0, 1, 2)), IsEmpty());
  EXPECT_EQ(layout.reason, Reason::kFragmented);
  EXPECT_THAT(Layout(2, {2, 1, 2}).place({"blox-as-coded"}, job_of(0, 1, 2)),
              ElementsAre(OnNode(0, 2)));
  EXPECT_THAT(Layout(2, {1, 1, 2}).place({"blox-as-coded"}, job_of(0, 1, 2)),
              ElementsAre(OnNode(0, 1), OnNode(1, 1)));
  const Choice exact = {"blox-as-coded", {{"exact_node", "true"}}};
  EXPECT_THAT(Layout(4, {3, 4, 2}).place(exact, job_of(0, 1, 2)), ElementsAre(OnNode(2, 2)));
  EXPECT_THAT(Layout(4, {3, 4, 1}).place(exact, job_of(0, 1, 2)), IsEmpty());
}

// A job waits for the cores and the memory that it asks for, whatever the rule that places it.
TEST(HostResources, BindEveryPlacement) {
  for (const PolicyInfo<PlacementPolicy>& row : placement_table()) {
    for (const bool memory : {false, true}) {
      for (const char* policy : {"fifo", "srtf"}) {
        Scenario scenario;
        scenario.cluster = uniform_cluster(1, 8);
        scenario.cluster.nodes[0].cpus = 16;
        scenario.cluster.nodes[0].memory_gb = 100;
        scenario.jobs = {job_of(0, 10, 2), job_of(0, 10, 2), job_of(0, 10, 2)};
        for (const int id : {0, 1}) {
          (memory ? scenario.jobs[id].memory_gb : scenario.jobs[id].cpus) = memory ? 70 : 12;
        }
        scenario.scheduling = {policy};
        scenario.placement = {std::string(row.name)};
        const std::string where = fmt::format("{} with {}", row.name, policy);
        const RunLog log = simulate(scenario);
        EXPECT_EQ(log.job(0).start, 0) << where;
        // Synergy gives it what is left instead.
        EXPECT_EQ(log.job(1).start, row.name == "synergy" ? 0 : 10) << where;
        scenario.options.count_host = false;
        EXPECT_EQ(simulate(scenario).job(1).start, 0) << where;
      }
    }
  }
}

TEST(HostResources, WhoAsksForMoreThanANodeHasIsRefused) {
  Scenario scenario;
  scenario.cluster = uniform_cluster(2, 8);
  for (NodeSpec& node : scenario.cluster.nodes) node.cpus = 16;
  scenario.jobs = {job_of(0, 10, 1), job_of(0, 10, 2)};
  scenario.jobs[0].cpus = 17;
  scenario.jobs[1].cpus = 32;  // on two nodes
  scenario.placement = {"first-gpu"};
  const RunLog log = simulate(scenario);
  EXPECT_EQ(log.job(0).status, JobState::kRefused);
  EXPECT_EQ(log.job(0).reason, Reason::kNotEnoughCpu);
  EXPECT_EQ(log.job(1).status, JobState::kFinished);
  scenario.cluster.nodes[1].cpus = 0;  // plentiful
  EXPECT_EQ(simulate(scenario).job(0).status, JobState::kFinished);
}

// Synergy: one node of four GPUs with eight cores, shared by two jobs of two GPUs.
Scenario synergy(const char* mode) {
  Scenario scenario;
  scenario.cluster.nodes[0].cpus = 8;
  scenario.jobs = {job_of(0, 30, 2), job_of(0, 30, 2)};
  // alexnet likes 12 cores per GPU, gnmt is content with one.
  scenario.jobs[0].model = scenario.symbols->intern("alexnet");
  scenario.jobs[1].model = scenario.symbols->intern("gnmt");
  scenario.jobs[0].cpus = 6;
  scenario.perf = {{"cpu-profiles"}};
  scenario.placement = {"synergy", {{"mode", mode}}};
  return scenario;
}

TEST(Synergy, FairGivesEveryGpuItsPartOfTheCores) {
  TestRun simulation(synergy("fair"));
  simulation.engine().turn();
  EXPECT_EQ(simulation.engine().cluster().free_cpus(NodeId{0}), 0);
  const View view = simulation.engine().view();
  for (const Slot slot : view.jobs.running()) {
    EXPECT_EQ(view.jobs[slot].host.cpus_per_gpu, 2);
  }
  EXPECT_EQ(view.jobs.running().size(), 2U);
}

TEST(Synergy, GreedyMakesJobsWaitForTheirRequest) {
  Scenario scenario = synergy("greedy");
  scenario.perf = {};
  TestRun simulation(scenario);
  simulation.engine().turn();
  const View view = simulation.engine().view();
  // The first takes three cores per GPU; the fair two of the second do not fit beside it.
  ASSERT_EQ(view.jobs.running().size(), 1U);
  EXPECT_EQ(view.jobs[view.jobs.running().front()].host.cpus_per_gpu, 3);
  const RunLog& log = simulation.run();
  EXPECT_EQ(log.job(1).start, 30);
}

TEST(Synergy, TuneCutsBackWhoHasMoreThanItsPart) {
  Scenario scenario = synergy("tune");
  scenario.perf = {};
  scenario.jobs[1].arrival = scenario.jobs[1].submit = 5;
  TestRun simulation(scenario);
  simulation.engine().turn();
  const View view = simulation.engine().view();
  const Slot first = view.jobs.running().front();
  EXPECT_EQ(view.jobs[first].host.cpus_per_gpu, 3);
  simulation.engine().turn();
  EXPECT_EQ(simulation.engine().view().jobs[first].host.cpus_per_gpu, 2);
  EXPECT_EQ(simulation.engine().cluster().free_cpus(NodeId{0}), 0);
  simulation.run();
  EXPECT_EQ(simulation.engine().cluster().free_cpus(NodeId{0}), 8);
}

// A type that a job requires binds whatever the policy's shares say.
TEST(Walk, HonoursTheTypeAJobRequires) {
  Scenario scenario;
  const Symbol v100 = scenario.symbols->intern("v100");
  scenario.cluster = uniform_cluster(2, 2);
  scenario.cluster.nodes[1].gpu_type = v100;
  scenario.jobs = {job_of(0, 10, 2)};
  scenario.jobs[0].gpu_type = v100;
  for (const char* placement : {"consolidated", "first-gpu", "scattered", "profile-guided", "bebop",
                                "synergy", "blox-as-coded", "whole-nodes", "random", "packing"}) {
    scenario.policy_sets =
        scripted_set([](const View& view, Plan& plan) { add_request(view, plan, {0}, 2); }, {},
                     kScriptedTraits, {placement});
    const RunLog log = simulate(scenario);
    ASSERT_EQ(log.placements.size(), 1U) << placement;
    EXPECT_EQ(log.placements[0].second[0].node, NodeId{1}) << placement;
  }
}

TEST(Walk, MovesAJobToTheTypeThatItsShareAsksFor) {
  Scenario scenario;
  const Symbol v100 = scenario.symbols->intern("v100");
  const Symbol k80 = scenario.symbols->intern("k80");
  scenario.cluster = uniform_cluster(2, 2);
  scenario.cluster.nodes[0].gpu_type = k80;
  scenario.cluster.nodes[1].gpu_type = v100;
  scenario.jobs = {job_of(0, 10, 2)};
  scenario.policy_sets = scripted_set(
      [v100, k80](const View& view, Plan& plan) {
        plan.add(AllocationRequest::alone(slot_of(view, 0), 2, view.now < 4 ? k80 : v100));
      },
      {4});
  const RunLog log = simulate(scenario);
  EXPECT_THAT(log.lines({Action::kStart, Action::kMove}),
              ElementsAre("0 start 0 gpus=2 other=- detail=0 first-in-order",
                          "4 move 0 gpus=2 other=- detail=1 first-in-order"));
}

// The second job is chosen by count, but its pool is taken; what it cannot use goes to the third.
TEST(Walk, HandsOnWhatAChosenShareCannotUse) {
  Scenario scenario;
  const Symbol left = scenario.symbols->intern("left");
  const Symbol right = scenario.symbols->intern("right");
  scenario.cluster = uniform_cluster(2, 4);
  scenario.cluster.nodes[0].partition = left;
  scenario.cluster.nodes[1].partition = right;
  scenario.jobs = {job_of(0, 10, 4), job_of(0, 20, 4), job_of(0, 30, 4)};
  scenario.jobs[0].partition = scenario.jobs[1].partition = left;
  scenario.jobs[2].partition = right;
  for (const char* policy : {"srtf", "las", "fifo", "sjf"}) {
    scenario.scheduling = {policy};
    const RunLog log = simulate(scenario);
    EXPECT_EQ(log.job(2).start, 0) << policy;
    EXPECT_EQ(log.job(2).end, 30) << policy;
    EXPECT_EQ(log.job(2).preemptions, 0) << policy;
  }
}

// A partition at its quota does not keep the others back.
TEST(Walk, WaitsForAQuotaWithoutBlockingOtherPartitions) {
  Scenario scenario;
  const Symbol guests = scenario.symbols->intern("guests");
  scenario.cluster = uniform_cluster(1, 4);
  scenario.cluster.partitions = {{guests, 2}};
  scenario.jobs = {job_of(0, 10, 2), job_of(0, 20, 2), job_of(0, 30, 2), job_of(0, 5, 1)};
  scenario.jobs[0].partition = scenario.jobs[1].partition = scenario.jobs[3].partition = guests;
  for (const char* policy : {"fifo", "srtf"}) {
    scenario.scheduling = {policy};
    const RunLog log = simulate(scenario);
    EXPECT_EQ(log.job(2).start, 0) << policy;
    for (const TurnStats& turn : log.turns) EXPECT_LE(turn.used_gpus, 4);
  }
  // Strictly in order, the small job waits behind the large one of its partition.
  scenario.scheduling = {"fifo"};
  EXPECT_EQ(simulate(scenario).job(3).start, 30);
}

// Shares chosen by count may fail for their shape; then a running job keeps its GPUs.
TEST(Walk, DoesNotStopAJobForOneThatCannotBePlaced) {
  Scenario scenario;
  scenario.cluster = uniform_cluster(2, 4);
  scenario.placement = {"consolidated", {{"one_node", "true"}}};
  scenario.scheduling = {"srtf"};
  // 0 holds three GPUs of one node, 1 three of the other; the short job of two fits nowhere.
  scenario.jobs = {job_of(0, 50, 3), job_of(0, 60, 3), job_of(1, 70, 2)};
  const RunLog log = simulate(scenario);
  EXPECT_EQ(log.job(0).end, 50);
  EXPECT_EQ(log.job(1).end, 60);
  EXPECT_EQ(log.job(2).start, 50);
  EXPECT_EQ(log.job(0).preemptions + log.job(1).preemptions, 0);
}

}  // namespace
}  // namespace muster
