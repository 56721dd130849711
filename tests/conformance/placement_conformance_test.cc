// What every placement rule must do: allocate exactly what was asked for, and only what is free.
#include <gtest/gtest.h>

#include "base/random.h"
#include "conformance/cases.h"
#include "run/config/plugin_tables.h"

namespace muster {
namespace {

class PlacementConformance : public ::testing::TestWithParam<Choice> {
 protected:
  static std::unique_ptr<PlacementPolicy> policy() { return make_placement(GetParam()); }
};

// A cluster in some state, and one job that wants a place in it.
struct Situation {
  Situation(const ClusterSpec& spec, const JobSpec& job)
      : cluster(std::make_shared<const ClusterSpec>(spec)), slot(jobs.add(job)) {
    jobs.set_state(slot, JobState::kQueued);
  }
  View view() const { return {0, 0, jobs, cluster, *perf}; }
  // What the policy gives the job; empty if it has to wait.
  GpuSet place(PlacementPolicy& policy) {
    PlacementDraft draft(jobs, cluster);
    Plan plan;
    plan.reset(cluster.free_gpus(), Plan::Depth::kAll);
    plan.add(AllocationRequest::alone(slot, jobs[slot].spec.gpus));
    policy.place(view(), {}, plan, draft);
    const GpuSet* held = draft.holding(slot);
    EXPECT_NE(held == nullptr, draft.blocked() == nullptr) << "who is not placed is blocked";
    if (held == nullptr && draft.blocked() != nullptr) {
      EXPECT_NE(draft.blocked()->reason, Reason::kNone);
    }
    return held != nullptr ? *held : GpuSet();
  }

  Symbols symbols;
  std::shared_ptr<const PerfModel> perf = make_perf({"locality"}, symbols);
  ClusterState cluster;
  JobTable jobs;
  Slot slot;
};

JobSpec random_job(Random& random, Symbols& symbols) {
  std::vector<JobSpec> jobs = {job_of(0, 100, static_cast<int>(random.integer(1, 14)))};
  const char* partitions[] = {"", "", "research", "product", "guests"};
  jobs[0].partition = symbols.intern(partitions[random.below(5)]);
  if (random.chance(0.4)) jobs[0].gpu_type = symbols.intern(random.chance(0.5) ? "v100" : "k80");
  if (random.chance(0.3)) jobs[0].cpus = random.uniform(0.5, 6) * jobs[0].gpus;
  return jobs[0];
}

// Breaks and occupies parts of the cluster.
void disturb(ClusterState& cluster, Random& random) {
  for (std::uint32_t i = 0; i < cluster.node_count(); ++i) {
    const NodeId node{i};
    if (random.chance(0.15)) cluster.set_up(node, false);
    if (random.chance(0.2)) {
      cluster.set_healthy(
          node, static_cast<int>(random.below(static_cast<std::uint64_t>(cluster.node(node).gpus))),
          false);
    }
    const int free = cluster.free_on(node);
    if (free == 0 || random.chance(0.3)) continue;
    GpuSet taken;
    taken.add(node,
              lowest_bits(cluster.free_mask(node), static_cast<int>(random.integer(1, free))));
    cluster.take(taken, cluster.node(node).partition, {1, 2});
  }
}

TEST_P(PlacementConformance, GivesExactlyWhatWasAskedForAndOnlyWhatIsFree) {
  Random random(1, "placement conformance");
  const auto rule = policy();
  int placed = 0;
  for (int round = 0; round < 400; ++round) {
    Symbols symbols;
    const ClusterSpec spec = divided_cluster(symbols);
    Situation situation(spec, random_job(random, symbols));
    disturb(situation.cluster, random);
    const bool counts = round % 2 == 0;
    situation.cluster.count_host(counts);
    situation.cluster.expect(situation.jobs[situation.slot].spec);
    const ClusterState before = situation.cluster;
    const GpuSet given = situation.place(*rule);
    const JobSpec& job = situation.jobs[situation.slot].spec;
    if (given.empty()) {
      EXPECT_EQ(situation.cluster.used_gpus(), before.used_gpus());
      continue;
    }
    ++placed;
    ASSERT_EQ(given.gpus(), job.gpus);
    ASSERT_LE(given.gpus(), before.quota_left(job.partition));
    for (int i = 0; i < given.nodes(); ++i) {
      const NodeGpus& part = given[i];
      ASSERT_EQ(before.free_mask(part.node) & part.mask, part.mask) << "it gave what was not free";
      ASSERT_EQ(situation.cluster.free_mask(part.node) & part.mask, 0U)
          << "it left free what it gave";
      const auto pools = before.pools_for(job.partition, job.gpu_type);
      ASSERT_TRUE(std::find(pools.begin(), pools.end(), before.pool_of(part.node)) != pools.end())
          << "it gave what the job may not use";
      if (before.node(part.node).cpus > 0) {
        ASSERT_GE(situation.cluster.free_cpus(part.node),
                  std::min(-1e-9, before.free_cpus(part.node)));
        if (counts) {
          ASSERT_GE(situation.cluster.free_cpus(part.node), -1e-9) << "too few cores";
        }
      }
      for (int j = 0; j < i; ++j) ASSERT_NE(given[j].node, part.node) << "a node is listed twice";
    }
  }
  EXPECT_GT(placed, 20) << "hardly anything was placed: the test tests nothing";
}

// On the empty cluster a job is placed exactly if it could ever fit.
TEST_P(PlacementConformance, KnowsWhatCouldEverFit) {
  Random random(2, "ever fits");
  const auto rule = policy();
  for (int round = 0; round < 400; ++round) {
    Symbols symbols;
    const ClusterSpec spec = round % 2 == 0 ? divided_cluster(symbols) : plain_cluster();
    Situation situation(spec, random_job(random, symbols));
    const JobSpec& job = situation.jobs[situation.slot].spec;
    const bool ever = rule->ever_fits(situation.cluster, job, job.gpus);
    const bool now = !situation.place(*rule).empty();
    // A rule that strands jobs may find a place on a cluster in use that it does not find on an
    // empty one.
    if (now || !rule->traits().strands) {
      EXPECT_EQ(now, ever) << job.gpus << " GPUs";
    }
  }
}

// A rule may draw random numbers, but from its own seed.
TEST_P(PlacementConformance, DecidesTheSameAgainAndAsAClone) {
  const auto first = policy();
  const auto second = policy();
  for (int round = 0; round < 100; ++round) {
    Random random(static_cast<std::uint64_t>(round), "again");
    Symbols symbols;
    const ClusterSpec spec = divided_cluster(symbols);
    const JobSpec job = random_job(random, symbols);
    Situation one(spec, job);
    disturb(one.cluster, random);
    Situation two(spec, job);
    two.cluster = one.cluster;
    Situation three(spec, job);
    three.cluster = one.cluster;
    const auto clone = first->clone();
    const GpuSet given = one.place(*first);
    EXPECT_EQ(two.place(*second), given);
    EXPECT_EQ(three.place(*clone), given);
  }
}

TEST_P(PlacementConformance, DoesNotMindAnEmptyPlan) {
  Situation situation(plain_cluster(), job_of(0, 1));
  PlacementDraft draft(situation.jobs, situation.cluster);
  for (const bool preemptive : {false, true}) {
    const auto rule = policy();
    rule->place(situation.view(), {.preemptive = preemptive}, Plan(), draft);
    EXPECT_TRUE(draft.steps().empty());
    EXPECT_EQ(draft.blocked(), nullptr);
  }
}

TEST_P(PlacementConformance, CarriesWholeRuns) {
  for (const char* scheduling : {"fifo", "srtf", "optimus"}) {
    for (Scenario scenario : {mixed_scenario(), divided_scenario()}) {
      scenario.scheduling = {scheduling};
      scenario.placement = GetParam();
      scenario.failures.node_mtbf = 500;
      scenario.failures.node_repair = 30;
      const RunLog log = simulate(scenario);
      EXPECT_EQ(log.jobs.size(), scenario.jobs.size()) << scheduling;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, PlacementConformance,
                         ::testing::ValuesIn(choices_of(plugin_tables().placement)),
                         [](const auto& test) { return case_name(test.param); });

}  // namespace
}  // namespace muster
