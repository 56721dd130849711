// What every scheduling policy must do, whatever the placement and the pacing.
#include <algorithm>
#include <thread>

#include <gtest/gtest.h>

#include "conformance/cases.h"

namespace muster {
namespace {

struct Case {
  Choice scheduling;
  Choice placement;
  Choice pacing;
  friend std::ostream& operator<<(std::ostream& out, const Case& c) {
    return out << case_name(c.scheduling) << " on " << case_name(c.placement) << " in "
               << c.pacing.name;
  }
};

std::vector<Case> all_cases() {
  const std::vector<Choice> placements = {{"consolidated"}, {"synergy"}, {"blox-as-coded"}};
  const std::vector<Choice> pacings = {{"events"},
                                       {"rounds", {{"length", "10"}}},
                                       {"slots", {{"length", "7"}}},
                                       {"ticks", {{"length", "0.5"}}}};
  std::vector<Case> cases;
  for (const Choice& scheduling : choices_of(general_policies())) {
    // Those that search or solve for every decision take long: one placement and one pacing are
    // enough.
    if (make_scheduling(scheduling)->traits().optimises) {
      cases.push_back({scheduling, placements[0], pacings[1]});
      continue;
    }
    for (const Choice& placement : placements) {
      // A policy that makes promises waits for long before it gives up a job without a place.
      const bool promises = make_scheduling(scheduling)->traits().promises;
      if (promises && make_placement(placement)->traits().strands) continue;
      for (const Choice& pacing : pacings) cases.push_back({scheduling, placement, pacing});
    }
  }
  return cases;
}

class SchedulingConformance : public ::testing::TestWithParam<Case> {
 protected:
  static Scenario apply(Scenario scenario) {
    scenario.scheduling = GetParam().scheduling;
    scenario.placement = GetParam().placement;
    scenario.pacing = GetParam().pacing;
    return scenario;
  }
  // Whether every job that fits gets GPUs in the end.
  static bool finds_places() {
    return !make_placement(GetParam().placement)->traits().strands &&
           !make_scheduling(GetParam().scheduling)->traits().strands;
  }
};

// TestRun::run checks all invariants after every turn.
TEST_P(SchedulingConformance, NeverOverCommitsAndBringsEveryJobToAnEnd) {
  for (const Scenario& scenario : {apply(mixed_scenario()), apply(divided_scenario())}) {
    const RunLog log = simulate(scenario);
    EXPECT_EQ(log.jobs.size(), scenario.jobs.size());
    for (const JobRecord& job : log.jobs) {
      const bool fits = job.status != JobState::kRefused;
      if (fits && finds_places()) {
        EXPECT_EQ(job.status, JobState::kFinished) << line_of(job);
      }
      if (!fits) continue;
      EXPECT_GE(job.start, job.arrival);
      EXPECT_GE(job.end, job.start);
    }
    EXPECT_EQ(log.turns.back().used_gpus, 0);
    EXPECT_EQ(log.turns.back().running + log.turns.back().waiting + log.turns.back().held, 0);
  }
}

TEST_P(SchedulingConformance, DecidesTheSameEveryTimeAndOnEveryThread) {
  const Scenario scenario = apply(divided_scenario());
  const std::vector<std::string> first = transcript(simulate(scenario));
  EXPECT_EQ(transcript(simulate(scenario)), first);
  std::vector<std::vector<std::string>> others(2);
  std::vector<std::thread> threads;
  threads.reserve(others.size());
  for (auto& other : others) {
    threads.emplace_back([&other, &scenario] {
      Scenario mine = scenario;
      mine.symbols = std::make_shared<Symbols>(*scenario.symbols);
      other = transcript(simulate(mine));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& other : others) EXPECT_EQ(other, first);
}

TEST_P(SchedulingConformance, SurvivesTheLossOfNodesAndGpus) {
  Scenario scenario = apply(mixed_scenario());
  scenario.cluster.schedule = {{50, NodeId{0}, false}, {200, NodeId{0}, true}};
  scenario.failures.node_mtbf = 400;
  scenario.failures.node_repair = 30;
  scenario.failures.gpu_mtbf = 900;
  scenario.failures.gpu_repair = 40;
  const RunLog log = simulate(scenario);
  EXPECT_EQ(log.jobs.size(), scenario.jobs.size());
  int restarts = 0;
  for (const JobRecord& job : log.jobs) {
    if (finds_places()) {
      EXPECT_EQ(job.status, JobState::kFinished) << line_of(job);
    }
    restarts += job.restarts;
  }
  EXPECT_GT(restarts, 0) << "no failure hit anybody: the test tests nothing";
}

TEST_P(SchedulingConformance, HandlesEmptyAndOneJobTraces) {
  Scenario scenario = apply(mixed_scenario());
  scenario.perf = {};
  scenario.cost = {};
  scenario.jobs.clear();
  EXPECT_TRUE(simulate(scenario).turns.empty());
  scenario.jobs = {job_of(3, 20, 4)};
  scenario.jobs[0].estimate = 20;
  const RunLog log = simulate(scenario);
  ASSERT_EQ(log.jobs.size(), 1U);
  EXPECT_EQ(log.job(0).status, JobState::kFinished);
  EXPECT_GE(log.job(0).end, 23);
  const bool works = make_scheduling(scenario.scheduling)->traits().work_conserving;
  if (works) {
    EXPECT_LE(log.job(0).start, 10);
  }
}

// Looking ahead lets clones of all policies rule a fork; the original must not notice.
TEST_P(SchedulingConformance, ClonesAreIndependent) {
  const Scenario scenario = apply(mixed_scenario());
  const RunLog undisturbed = simulate(scenario);
  // Often at first, when most jobs wait; then, as each look ahead lets a whole run pass, every
  // fiftieth of the way.
  const int later = std::max(10, static_cast<int>(undisturbed.turns.size() / 50));
  TestRun disturbed(scenario);
  int asked = 0;
  int next = 5;
  for (int turn = 0; disturbed.engine().turn(); ++turn) {
    if (turn != next) continue;
    disturbed.engine().predict(0, ++asked % 2 == 0 ? kNever : 100);
    next += asked < 10 ? 10 : later;
  }
  EXPECT_GT(asked, 1);
  EXPECT_EQ(transcript(disturbed.log()), transcript(undisturbed));
}

// Once nobody comes any more, looking ahead with the ruling policy set sees what will happen.
class Oracle final : public Selector {
 public:
  Oracle(Seconds last_arrival, Prediction& prediction, Seconds& asked)
      : last_arrival_(last_arrival), prediction_(prediction), asked_(asked) {}
  std::size_t select(const View& view, std::size_t current, WhatIf& what_if) override {
    if (asked_ == kNever && view.now >= last_arrival_) {
      asked_ = view.now;
      prediction_ = what_if.predict(current, kNever);
    }
    return current;
  }
  std::unique_ptr<Selector> clone() const override { return std::make_unique<Oracle>(*this); }

 private:
  Seconds last_arrival_;
  Prediction& prediction_;
  Seconds& asked_;
};

TEST_P(SchedulingConformance, ForeseesItself) {
  Scenario scenario = apply(mixed_scenario());
  scenario.jobs.resize(25);
  const Seconds last_arrival = scenario.jobs.back().arrival;
  Prediction prediction;
  Seconds asked = kNever;
  scenario.selector = [&] { return std::make_unique<Oracle>(last_arrival, prediction, asked); };
  const RunLog log = simulate(scenario);
  ASSERT_NE(asked, kNever);
  double completion = 0;
  long long finished = 0;
  // Who left in that very turn had been seen to leave before the question.
  for (const Decision& decision : log.decisions) {
    if (decision.action != Action::kFinish || decision.time <= asked) continue;
    completion += log.job(static_cast<int>(decision.job)).completion_time();
    ++finished;
  }
  EXPECT_EQ(prediction.finished, finished);
  EXPECT_EQ(prediction.unfinished, 0);
  EXPECT_NEAR(prediction.sum_completion_time, completion, 1e-6 * completion);
}

INSTANTIATE_TEST_SUITE_P(All, SchedulingConformance, ::testing::ValuesIn(all_cases()),
                         [](const auto& test) {
                           return case_name(test.param.scheduling) + "_on_" +
                                  case_name(test.param.placement) + "_in_" + test.param.pacing.name;
                         });

// Where a policy says so, no waiting job would fit into what is free after a turn.
class WorkConserving : public SchedulingConformance {};

TEST_P(WorkConserving, AsItSays) {
  for (const Scenario& scenario : {apply(mixed_scenario()), apply(divided_scenario())}) {
    TestRun simulation(scenario);
    while (simulation.engine().turn()) {
      const View view = simulation.engine().view();
      for (const Slot slot : view.jobs.waiting()) {
        const JobSpec& job = view.jobs[slot].spec;
        ASSERT_LT(view.cluster.free_for(job.partition, job.gpu_type), job.gpus)
            << "at " << view.now << " s job " << index(job.id) << " waits for " << job.gpus
            << " GPUs while they are free";
      }
    }
  }
}

std::vector<Case> conserving_cases() {
  std::vector<Case> cases = all_cases();
  std::erase_if(cases, [](const Case& c) {
    return !make_scheduling(c.scheduling)->traits().work_conserving ||
           make_placement(c.placement)->traits().strands ||
           make_placement(c.placement)->traits().counts_host;
  });
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, WorkConserving, ::testing::ValuesIn(conserving_cases()),
                         [](const auto& test) {
                           return case_name(test.param.scheduling) + "_in_" +
                                  test.param.pacing.name;
                         });

}  // namespace
}  // namespace muster
