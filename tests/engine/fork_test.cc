// Forks see what the engine sees: with jobs that share GPUs, it matters who was there first.
#include <gtest/gtest.h>

#include "support/scripted_policy.h"
#include "support/simulation.h"

namespace muster {
namespace {

// Whoever joins another on its GPUs is slow, and the other one is not.
class JoinersAreSlow final : public PerfModel {
 public:
  double rate(const JobSpec&, const RunContext& context) const override {
    if (context.neighbours.empty()) return 1;
    return context.joined ? 0.25 : 0.75;
  }
};

// Asks once, at the first turn at or after `at`.
class AskOnce final : public Selector {
 public:
  AskOnce(Seconds at, Prediction& answer, Seconds& asked)
      : at_(at), answer_(answer), asked_(asked) {}
  std::size_t select(const View& view, std::size_t current, WhatIf& what_if) override {
    if (asked_ == kNever && view.now >= at_) {
      asked_ = view.now;
      answer_ = what_if.predict(current, kNever);
    }
    return current;
  }
  std::unique_ptr<Selector> clone() const override { return std::make_unique<AskOnce>(*this); }

 private:
  Seconds at_;
  Prediction& answer_;
  Seconds& asked_;
};

Scenario two_on_one_gpu() {
  Scenario scenario;
  scenario.cluster = uniform_cluster(1, 1);
  scenario.jobs = {job_of(0, 20), job_of(4, 10)};
  scenario.perf_model = [] { return std::make_shared<JoinersAreSlow>(); };
  scenario.policy_sets = scripted_set([](const View& view, Plan& plan) {
    add_request(view, plan, {0, 1}, 1);
  });
  return scenario;
}

// 4 alone; then 16 left at 0.75 until 25 1/3, when the other has 5 1/3 of its 10 and goes on alone.
TEST(Fork, KnowsWhoCameFirst) {
  Scenario scenario = two_on_one_gpu();
  Prediction prediction;
  Seconds asked = kNever;
  scenario.selector = [&] { return std::make_unique<AskOnce>(4, prediction, asked); };
  const RunLog log = simulate(scenario);
  EXPECT_NEAR(log.job(0).end, 25 + 1.0 / 3, 1e-9);
  EXPECT_NEAR(log.job(1).end, 30, 1e-9);
  EXPECT_EQ(asked, 4);
  EXPECT_EQ(prediction.finished, 2);
  EXPECT_NEAR(prediction.sum_completion_time, log.job(0).end + log.job(1).end - 4, 1e-9);
}

TEST(Fork, GoesOnAsItsOriginalDoes) {
  for (const int turns : {1, 2, 3}) {
    TestRun original(two_on_one_gpu());
    for (int i = 0; i < turns; ++i) original.engine().turn();
    const auto fork = original.fork();
    const std::size_t before = original.log().jobs.size();
    const RunLog& later = fork->run();
    const RunLog& rest = original.run();
    ASSERT_EQ(later.jobs.size(), rest.jobs.size() - before);
    for (std::size_t i = 0; i < later.jobs.size(); ++i) {
      EXPECT_EQ(later.jobs[i].end, rest.jobs[before + i].end) << turns;
    }
  }
}

// The original does not notice.
TEST(Fork, HasAStateOfItsOwn) {
  TestRun original(two_on_one_gpu());
  original.engine().turn();
  const auto fork = original.fork();
  fork->run();
  EXPECT_EQ(original.engine().now(), 0);
  EXPECT_EQ(original.engine().jobs().running().size(), 1U);
  EXPECT_EQ(original.run().jobs.size(), 2U);
}

// The numbers of launches go on, so that late words are still told apart.
TEST(Fork, KeepsTheNumbersOfLaunches) {
  Scenario scenario;
  scenario.cluster = uniform_cluster(1, 1);
  scenario.jobs = {job_of(0, 100), job_of(10, 5), job_of(20, 5)};
  scenario.scheduling = {"srtf"};
  TestRun original(scenario);
  original.turn_to(15);
  const Slot slot = original.engine().jobs().running().front();
  EXPECT_EQ(original.engine().jobs()[slot].launch, 2U);
  const auto fork = original.fork();
  fork->turn_to(25);
  EXPECT_EQ(fork->engine().jobs()[slot].launch, 3U);
  EXPECT_EQ(fork->engine().jobs()[slot].ended, 2U);
}

}  // namespace
}  // namespace muster
