// Numbers that jobs report: observers hear them, and policies see those that the run names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/simulation.h"

namespace muster {
namespace {

using ::testing::ElementsAre;

JobEvent said(Seconds time, std::uint32_t job, Symbol name, double value) {
  JobEvent event;
  event.time = time;
  event.kind = EventKind::kMetric;
  event.job = JobId{job};
  event.metric = name;
  event.value = value;
  return event;
}

// Whoever reports the largest value goes first; who reports nothing goes last.
class LargestFirst final : public KeyPolicy {
 public:
  explicit LargestFirst(Symbol name) : name_(name) {}
  double key(const Job& job, const View& view) const override {
    const auto value = view.metrics != nullptr ? view.metrics->of(job.self, name_) : std::nullopt;
    return value ? -*value : 0;
  }
  std::unique_ptr<SchedulingPolicy> clone() const override {
    return std::make_unique<LargestFirst>(*this);
  }

 private:
  Symbol name_;
};

struct Heard final : Observer {
  void on_metric(const JobMetric& metric) override { all.push_back(metric); }
  std::vector<JobMetric> all;
};

struct Reporting {
  Scenario scenario;
  Symbol gain;
  Symbol loss;
  Heard heard;

  Reporting() {
    gain = scenario.symbols->intern("gain");
    loss = scenario.symbols->intern("loss");
    scenario.cluster = uniform_cluster(1, 1);
    scenario.pacing = {"rounds", {{"length", "10"}}};
    scenario.jobs = {job_of(0, 30), job_of(0, 30), job_of(0, 30)};
    scenario.policy_sets = [this] {
      std::vector<PolicySet> sets;
      sets.push_back({make_admission({"accept-all"}), std::make_unique<LargestFirst>(gain),
                      make_placement({"consolidated"})});
      return sets;
    };
    scenario.observers = {&heard};
  }
};

TEST(JobMetrics, SteerThePolicyThatAsksForThem) {
  Reporting run;
  run.scenario.metrics = {run.gain};
  run.scenario.injected = {said(5, 2, run.gain, 3), said(35, 1, run.gain, 5)};
  const RunLog log = simulate(run.scenario);
  // 0 runs until the round in which 2 speaks up, 2 until 1 does.
  EXPECT_THAT(
      log.lines({Action::kStart}),
      ElementsAre(::testing::StartsWith("0 start 0"), ::testing::StartsWith("10 start 2"),
                  ::testing::StartsWith("40 start 1"), ::testing::StartsWith("70 start 0")));
}

TEST(JobMetrics, AreHeardByObserversWhetherOrNotPoliciesSeeThem) {
  Reporting run;
  run.scenario.injected = {said(5, 2, run.gain, 3), said(6, 2, run.loss, 0.5)};
  const RunLog log = simulate(run.scenario);
  ASSERT_EQ(run.heard.all.size(), 2U);
  EXPECT_EQ(run.heard.all[1].job, JobId{2});
  EXPECT_EQ(run.heard.all[1].name, run.loss);
  EXPECT_EQ(run.heard.all[1].value, 0.5);
  EXPECT_EQ(log.job(0).end, 30) << "nobody asked for them, so nobody saw them";
}

TEST(JobMetrics, OfAJobThatHasLeftMeanNothing) {
  Reporting run;
  run.scenario.metrics = {run.gain};
  run.scenario.injected = {said(45, 0, run.gain, 9)};
  simulate(run.scenario);
  EXPECT_TRUE(run.heard.all.empty());
}

TEST(JobMetrics, TableForgetsWhoLeft) {
  JobMetrics metrics({Symbol{1}, Symbol{2}});
  metrics.set(Slot{3}, Symbol{2}, 7);
  metrics.set(Slot{3}, Symbol{5}, 7);
  EXPECT_EQ(metrics.of(Slot{3}, Symbol{2}), 7);
  EXPECT_EQ(metrics.of(Slot{3}, Symbol{1}), std::nullopt);
  EXPECT_EQ(metrics.of(Slot{3}, Symbol{5}), std::nullopt);
  EXPECT_EQ(metrics.of(Slot{9}, Symbol{2}), std::nullopt);
  JobMetrics named({Symbol{1}, Symbol{2}}, {"gain", "loss"});
  named.set(Slot{3}, Symbol{2}, 7);
  EXPECT_EQ(named.of(Slot{3}, "loss"), 7);
  EXPECT_EQ(named.of(Slot{3}, "gain"), std::nullopt);
  EXPECT_EQ(named.of(Slot{3}, "accuracy"), std::nullopt);
  metrics.clear(Slot{3});
  EXPECT_EQ(metrics.of(Slot{3}, Symbol{2}), std::nullopt);
}

}  // namespace
}  // namespace muster
