#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/simulation.h"

namespace muster {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

// Predictions that a test writes down.
class FakeFuture final : public WhatIf {
 public:
  explicit FakeFuture(std::vector<Prediction> predictions) : predictions_(std::move(predictions)) {}
  std::size_t policy_sets() const override { return predictions_.size(); }
  Prediction predict(std::size_t policy_set, Seconds horizon) override {
    ++asked;
    last_horizon = horizon;
    return predictions_[policy_set];
  }
  int asked = 0;
  Seconds last_horizon = 0;

 private:
  std::vector<Prediction> predictions_;
};

Prediction finished_in(double mean, long long finished = 10, long long unfinished = 0,
                       double age = 0) {
  Prediction prediction;
  prediction.finished = finished;
  prediction.sum_completion_time = mean * static_cast<double>(finished);
  prediction.unfinished = unfinished;
  prediction.sum_age = age;
  return prediction;
}

class LookAheadTest : public ::testing::Test {
 protected:
  LookAheadTest() { jobs_.set_state(jobs_.add(job_of(0, 10)), JobState::kQueued); }
  View view() const { return {0, 0, jobs_, cluster_, *perf_}; }

  Symbols symbols_;
  std::unique_ptr<PerfModel> perf_ = make_perf({"ideal"}, symbols_);
  ClusterState cluster_{std::make_shared<const ClusterSpec>(uniform_cluster(1, 1))};
  JobTable jobs_;
};

TEST_F(LookAheadTest, PicksTheBestAndStaysAmongEquals) {
  const auto selector = make_selector({"look-ahead"});
  FakeFuture future({finished_in(100), finished_in(50), finished_in(70)});
  EXPECT_EQ(selector->select(view(), 0, future), 1U);
  FakeFuture equal({finished_in(50), finished_in(50)});
  EXPECT_EQ(selector->select(view(), 1, equal), 1U);
}

TEST_F(LookAheadTest, LooksEveryFewTurnsOnly) {
  const auto selector = make_selector({"look-ahead", {{"every", "3"}, {"horizon", "600"}}});
  FakeFuture future({finished_in(100), finished_in(50)});
  for (int turn = 0; turn < 6; ++turn) selector->select(view(), 0, future);
  EXPECT_EQ(future.asked, 4);
  EXPECT_EQ(future.last_horizon, 600);
}

// Within a horizon, finishing nobody must not look like finishing everybody at once.
TEST_F(LookAheadTest, DoesNotPreferDoingNothing) {
  const auto selector = make_selector({"look-ahead", {{"horizon", "600"}}});
  FakeFuture future({finished_in(300, 10, 2, 1200), finished_in(0, 0, 12, 7200)});
  EXPECT_EQ(selector->select(view(), 1, future), 0U);
}

TEST_F(LookAheadTest, JudgesByTheMetricAskedFor) {
  Prediction slow;
  slow.sum_slowdown = 9;
  slow.sum_progress = 5;
  Prediction fast;
  fast.sum_slowdown = 3;
  fast.sum_progress = 2;
  FakeFuture future({slow, fast});
  EXPECT_EQ(make_selector({"look-ahead", {{"metric", "slowdown"}}})->select(view(), 0, future), 1U);
  EXPECT_EQ(make_selector({"look-ahead", {{"metric", "progress"}}})->select(view(), 1, future), 0U);
}

Scenario long_before_short() {
  Scenario scenario;
  scenario.cluster = uniform_cluster(1, 1);
  scenario.jobs = {job_of(0, 1000)};
  for (int i = 0; i < 10; ++i) scenario.jobs.push_back(job_of(1, 10));
  scenario.policy_sets = [] {
    std::vector<PolicySet> made;
    made.push_back(make_policy_set({"fifo"}));
    made.push_back(make_policy_set({"srtf"}));
    return made;
  };
  scenario.selector = [] { return make_selector({"look-ahead"}); };
  return scenario;
}

TEST(LookAhead, ChangesToTheBetterPolicyInARun) {
  const RunLog log = simulate(long_before_short());
  EXPECT_THAT(log.lines({Action::kSwitch}), Contains(HasSubstr("detail=1 predicted-best")));
  EXPECT_EQ(log.job(10).end, 101);
  EXPECT_EQ(log.job(0).end, 1100);
}

// Failures that will happen are not known to those who look ahead; scheduled changes are.
TEST(LookAhead, DoesNotKnowFailuresToCome) {
  Scenario scenario;
  scenario.cluster = uniform_cluster(1, 1);
  scenario.jobs = {job_of(0, 1000)};
  scenario.failures.node_mtbf = 100;
  scenario.failures.node_repair = 50;
  scenario.cost.checkpoint_interval = 10;
  TestRun simulation(scenario);
  simulation.engine().turn();
  EXPECT_EQ(simulation.engine().predict(0, kNever).sum_completion_time, 1000);
  EXPECT_GT(simulation.run().job(0).end, 1000);
  scenario.failures = {};
  scenario.cluster.schedule = {{500, NodeId{0}, false}, {700, NodeId{0}, true}};
  TestRun scheduled(scenario);
  scheduled.engine().turn();
  EXPECT_EQ(scheduled.engine().predict(0, kNever).sum_completion_time, 1200);
}

// What is left at the horizon is judged at the horizon, not at the last turn before it.
TEST(Predict, LooksExactlyAsFarAsItIsAsked) {
  Scenario scenario;
  scenario.cluster = uniform_cluster(1, 1);
  scenario.jobs = {job_of(0, 100), job_of(0, 50)};
  TestRun simulation(scenario);
  simulation.engine().turn();
  const Prediction prediction = simulation.engine().predict(0, 60);
  EXPECT_EQ(prediction.finished, 0);
  EXPECT_EQ(prediction.unfinished, 2);
  EXPECT_DOUBLE_EQ(prediction.sum_progress, 0.6);
  EXPECT_DOUBLE_EQ(prediction.sum_slowdown, 60.0 / 50);
  EXPECT_EQ(prediction.mean_completion_time(), 60);
}

}  // namespace
}  // namespace muster
