// A placement policy does nothing that it has not declared.
#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "artifacts/rows.h"
#include "conformance/cases.h"
#include "run/config/plugin_tables.h"

namespace muster {
namespace {

class DeclaredPlacements : public ::testing::TestWithParam<Choice> {
 protected:
  static PlacementTraits traits() { return make_placement(GetParam())->traits(); }
  // In rounds, where quiet turns are skipped if nothing can change in them.
  static Scenario scenario() {
    Scenario scenario = mixed_scenario();
    scenario.scheduling = {"fifo", {{"strict", "false"}}};
    scenario.placement = GetParam();
    scenario.pacing = {"rounds", {{"length", "10"}}};
    scenario.cluster.nodes.resize(2);  // jobs wait
    for (std::size_t i = 0; i < scenario.jobs.size(); i += 3) scenario.jobs[i].priority = -1;
    return scenario;
  }
};

// Declares that it may change its mind in any turn.
class Unstable final : public PlacementPolicy {
 public:
  explicit Unstable(std::unique_ptr<PlacementPolicy> inner) : inner_(std::move(inner)) {}
  Unstable(const Unstable& other) : PlacementPolicy(other), inner_(other.inner_->clone()) {}
  Unstable& operator=(const Unstable&) = delete;
  ~Unstable() override = default;

  PlacementTraits traits() const override {
    PlacementTraits traits = inner_->traits();
    traits.stable_between_events = false;
    return traits;
  }
  void place(const View& view, const SchedulingTraits& traits, const Plan& plan,
             PlacementDraft& draft) override {
    inner_->place(view, traits, plan, draft);
  }
  bool ever_fits(const ClusterState& cluster, const JobSpec& job, int gpus) const override {
    return inner_->ever_fits(cluster, job, gpus);
  }
  Plan::Depth depth(const ClusterState& cluster, const SchedulingTraits& traits) const override {
    return inner_->depth(cluster, traits);
  }
  Seconds wake(const View& view) const override { return inner_->wake(view); }
  std::unique_ptr<PlacementPolicy> clone() const override {
    return std::make_unique<Unstable>(*this);
  }

 private:
  std::unique_ptr<PlacementPolicy> inner_;
};

TEST_P(DeclaredPlacements, ChangeNothingInQuietTurnsIfStable) {
  if (!traits().stable_between_events) return;
  Scenario usual = scenario();
  usual.scheduling = {"srtf"};  // which preempts, and is stable itself
  Scenario asked = usual;
  asked.policy_sets = [scheduling = asked.scheduling] {
    std::vector<PolicySet> sets;
    sets.push_back(make_policy_set(scheduling, GetParam()));
    sets.back().placement = std::make_unique<Unstable>(std::move(sets.back().placement));
    return sets;
  };
  const RunLog log = simulate(asked);
  EXPECT_GT(log.decisions.size(), 20U);
  EXPECT_EQ(first_difference(deeds(log), deeds(simulate(usual))), "");
}

TEST_P(DeclaredPlacements, ShareNoGpusUnlessTheyCoLocate) {
  if (traits().co_locates) return;
  TestRun run(scenario());
  int most = 0;
  while (run.engine().turn()) {
    std::map<NodeId, std::uint64_t> held;
    int jobs = 0;
    for (const Slot slot : run.engine().jobs().running()) {
      ++jobs;
      const GpuSet& gpus = run.engine().jobs()[slot].gpus;
      for (int i = 0; i < gpus.nodes(); ++i) {
        ASSERT_EQ(held[gpus[i].node] & gpus[i].mask, 0U);
        held[gpus[i].node] |= gpus[i].mask;
      }
    }
    most = std::max(most, jobs);
  }
  EXPECT_GT(most, 3);
}

// Where the cluster does not count CPU cores and memory, only those who declare it do.
TEST_P(DeclaredPlacements, CountHostOnlyIfDeclared) {
  if (traits().counts_host) return;
  Scenario asking = scenario();
  asking.options.count_host = false;
  for (JobSpec& job : asking.jobs) {
    job.cpus = 9.0 * job.gpus;  // of a node's 16, for each of its 4 GPUs
    job.memory_gb = 100;
  }
  Scenario plain = asking;
  for (JobSpec& job : plain.jobs) job.cpus = job.memory_gb = 0;
  const RunLog log = simulate(asking);
  EXPECT_GT(log.decisions.size(), 20U);
  EXPECT_EQ(first_difference(deeds(log), deeds(simulate(plain))), "");
}

INSTANTIATE_TEST_SUITE_P(All, DeclaredPlacements,
                         ::testing::ValuesIn(choices_of(plugin_tables().placement)),
                         [](const auto& test) { return case_name(test.param); });

}  // namespace
}  // namespace muster
