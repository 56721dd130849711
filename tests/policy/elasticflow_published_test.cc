// The published schedulers of ElasticFlow's simulator, on jobs that nobody has measured.
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "artifacts/elasticflow/node_sets.h"
#include "support/simulation.h"

namespace muster {
namespace {

TEST(NodeSets, PacksLikeBuddiesAndRemembersRanges) {
  std::set<std::pair<int, int>> cache;
  const auto ranks = [&cache] {
    NodeSets sets(3, 8);
    EXPECT_TRUE(sets.place(0, 8));
    EXPECT_TRUE(sets.place(1, 4));
    EXPECT_TRUE(sets.place(2, 4));
    EXPECT_TRUE(sets.place(3, 2));
    EXPECT_FALSE(sets.place(4, 16));
    std::vector<NodeSets::Tenant> tenants;
    sets.rank(cache, tenants);
    return tenants;
  };
  for (const NodeSets::Tenant& tenant : ranks()) EXPECT_FALSE(tenant.known) << tenant.job;
  for (const NodeSets::Tenant& tenant : ranks()) EXPECT_TRUE(tenant.known) << tenant.job;
  EXPECT_EQ(cache, (std::set<std::pair<int, int>>{{0, 8}, {8, 4}, {12, 4}, {16, 2}}));
}

// The published schedulers bring jobs to an end that were never measured, and decide alike again.
class PublishedSchedulers : public ::testing::TestWithParam<std::pair<Choice, const char*>> {};

Scenario published_scenario(const std::pair<Choice, const char*>& param) {
  Scenario scenario;
  scenario.cluster = uniform_cluster(4, 8);
  scenario.scheduling = param.first;
  scenario.placement = {"buddy"};
  scenario.pacing = {"gathered", {{"length", "60"}, {"events", param.second}}};
  scenario.perf = {{"scaling"}};
  for (int i = 0; i < 40; ++i) {
    JobSpec job = job_of(37.0 * i, 100 + 53 * (i % 11), 1 << (i % 4));
    job.min_gpus = 1;
    job.max_gpus = 16;
    if (i % 5 != 0) job.deadline = job.submit + job.duration * (0.6 + 0.1 * (i % 13));
    scenario.jobs.push_back(job);
  }
  return scenario;
}

TEST_P(PublishedSchedulers, BringEveryJobToAnEnd) {
  const RunLog log = simulate(published_scenario(GetParam()));
  EXPECT_EQ(log.jobs.size(), 40U);
  int finished = 0;
  for (const JobRecord& job : log.jobs) {
    if (job.status == JobState::kRefused) {
      EXPECT_EQ(job.reason, Reason::kDeadlineImpossible);
      EXPECT_TRUE(job.has_deadline());
      continue;
    }
    ++finished;
    EXPECT_EQ(job.status, JobState::kFinished);
    EXPECT_GE(job.end, job.submit);
  }
  EXPECT_GT(finished, 8);
  EXPECT_EQ(log.turns.back().used_gpus, 0);
  EXPECT_EQ(simulate(published_scenario(GetParam())).lines(), log.lines());
}

INSTANTIATE_TEST_SUITE_P(
    All, PublishedSchedulers,
    ::testing::Values(std::pair<Choice, const char*>{{"elasticflow-as-coded"}, "everything"},
                      std::pair<Choice, const char*>{
                          {"elasticflow-as-coded", {{"admission", "false"}}}, "everything"},
                      std::pair<Choice, const char*>{
                          {"elasticflow-as-coded", {{"grow_least", "true"}}}, "everything"},
                      std::pair<Choice, const char*>{{"edf-as-coded"}, "everything"},
                      std::pair<Choice, const char*>{{"edf-as-coded", {{"admission", "true"}}},
                                                     "everything"},
                      std::pair<Choice, const char*>{{"gandiva-as-coded"}, "arrivals-alone"},
                      std::pair<Choice, const char*>{{"tiresias-as-coded"}, "arrivals"},
                      std::pair<Choice, const char*>{{"themis-as-coded"}, "every-slot"}));

// Sizes that do not pack into nodes are refused with the reason; the originals end there.
TEST(PublishedSchedulers, RefuseSizesThatDoNotPack) {
  for (const auto& [policy, events] : {std::pair("elasticflow-as-coded", "everything"),
                                       {"edf-as-coded", "everything"},
                                       {"gandiva-as-coded", "arrivals-alone"},
                                       {"tiresias-as-coded", "arrivals"},
                                       {"themis-as-coded", "every-slot"}}) {
    Scenario scenario = published_scenario({{policy}, events});
    for (std::size_t i = 0; i < scenario.jobs.size(); ++i) {
      JobSpec& job = scenario.jobs[i];
      job.gpus = i % 2 == 0 ? 3 : 4;
      job.min_gpus = job.max_gpus = 0;
      job.deadline = kNever;
    }
    const RunLog log = simulate(scenario);
    EXPECT_EQ(log.jobs.size(), 40U) << policy;
    for (const JobRecord& job : log.jobs) {
      if (job.gpus == 3) {
        EXPECT_EQ(job.status, JobState::kRefused) << policy;
        EXPECT_EQ(job.reason, Reason::kFragmented) << policy;
      } else {
        EXPECT_EQ(job.status, JobState::kFinished) << policy;
      }
    }
  }
}

}  // namespace
}  // namespace muster
