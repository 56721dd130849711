// What every scheduling policy must do where nobody knows how long jobs run.
#include <algorithm>
#include <functional>

#include <gtest/gtest.h>

#include "conformance/cases.h"
#include "model/belief.h"
#include "run/config/plugin_tables.h"
#include "support/beliefs.h"

namespace muster {
namespace {

// All rows of the table, those that reproduce a published simulator included.
std::vector<Choice> all_policies() { return choices_of(plugin_tables().scheduling); }

bool drives_completion(const Choice& choice) {
  return make_scheduling(choice)->traits().drives_completion;
}

Scenario scenario_for(const Choice& choice) {
  Scenario scenario = mixed_scenario();
  scenario.scheduling = choice;
  scenario.pacing = {"rounds", {{"length", "10"}}};
  if (!drives_completion(choice)) return scenario;
  // As a run of these must be: their own pacing, and a cluster that their books can hold.
  auto policy = make_scheduling(choice);
  scenario.pacing = {std::string(policy->traits().pacing)};
  scenario.perf = {};
  scenario.cost = {};
  for (JobSpec& job : scenario.jobs) {
    job.gpus = job.gpus > 2 ? 4 : job.gpus;
    job.min_gpus = job.max_gpus = 0;
    job.deadline = kNever;
  }
  return scenario;
}

struct Belief {
  std::string name;
  Durations durations;
  double factor;
};

const std::vector<Belief> kBeliefs = {{"TenTimesTooLong", Durations::kEstimate, 10},
                                      {"TenTimesTooShort", Durations::kEstimate, 0.1},
                                      {"None", Durations::kNone, 0}};

std::vector<JobSpec> as(const Belief& belief, const std::vector<JobSpec>& jobs) {
  return believed_jobs(jobs, belief.durations,
                       belief.factor > 0 ? std::make_unique<SameError>(belief.factor) : nullptr);
}

// What is not estimated is estimated to take an hour.
std::vector<JobSpec> with_an_hour(std::vector<JobSpec> jobs) {
  for (JobSpec& job : jobs) {
    if (!(job.estimate > 0)) job.estimate = kUnknownDuration;
  }
  return jobs;
}

class UnderWrongBeliefs : public ::testing::TestWithParam<Choice> {};

TEST_P(UnderWrongBeliefs, FinishesAllJobs) {
  for (const Belief& belief : kBeliefs) {
    SCOPED_TRACE(belief.name);
    Scenario scenario = scenario_for(GetParam());
    const RunLog truth = simulate(scenario);
    scenario.jobs = as(belief, scenario.jobs);
    const RunLog log = simulate(scenario);
    // One that keeps books of its own may leave some behind, whatever is believed.
    EXPECT_EQ(log.jobs.size(),
              drives_completion(GetParam()) ? truth.jobs.size() : scenario.jobs.size());
    for (const JobRecord& job : log.jobs) {
      const JobRecord otherwise = truth.job(static_cast<int>(job.id));
      EXPECT_EQ(job.status, otherwise.status) << line_of(job);
      if (!drives_completion(GetParam())) {
        EXPECT_EQ(job.status, JobState::kFinished) << line_of(job);
      }
      EXPECT_EQ(job.duration, otherwise.duration);
    }
  }
}

// Who says that it does not need to know how long jobs run decides the same whatever it is told.
TEST_P(UnderWrongBeliefs, DecidesTheSameIfItNeedsNoRunTimes) {
  const auto policy = make_scheduling(GetParam());
  const SchedulingTraits traits = policy->traits();
  const bool minds =
      lists(traits.needs, Knowledge::kDuration) || lists(traits.needs, Knowledge::kEstimate);
  if (minds && !traits.keeps_truth) return;
  Scenario scenario = scenario_for(GetParam());
  const std::vector<std::string> told_the_truth = transcript(simulate(scenario));
  for (const Belief& belief : kBeliefs) {
    Scenario wrong = scenario;
    wrong.jobs = as(belief, scenario.jobs);
    EXPECT_EQ(transcript(simulate(wrong)), told_the_truth) << belief.name;
  }
}

// Beliefs that are true change nothing at all, however they are told.
TEST_P(UnderWrongBeliefs, DecidesTheSameIfTheyAreRight) {
  Scenario scenario = scenario_for(GetParam());
  for (JobSpec& job : scenario.jobs) job.estimate = job.duration;
  const std::vector<std::string> told_the_truth = transcript(simulate(scenario));
  scenario.jobs =
      believed_jobs(scenario.jobs, Durations::kEstimate, std::make_unique<SameError>(1));
  EXPECT_EQ(transcript(simulate(scenario)), told_the_truth);
}

// A job without an estimate is one of which an hour was estimated, to every policy.
TEST_P(UnderWrongBeliefs, TakesAMissingEstimateForAnHour) {
  Scenario scenario = scenario_for(GetParam());
  const std::vector<JobSpec> jobs = scenario.jobs;
  scenario.jobs = believed_jobs(jobs, Durations::kEstimate);
  const std::vector<std::string> missing = transcript(simulate(scenario));
  scenario.jobs = believed_jobs(with_an_hour(jobs), Durations::kEstimate);
  EXPECT_EQ(first_difference(missing, transcript(simulate(scenario))), "");
}

INSTANTIATE_TEST_SUITE_P(All, UnderWrongBeliefs, ::testing::ValuesIn(all_policies()),
                         [](const auto& test) { return case_name(test.param); });

// The other parts that decide, beside a policy that goes by lengths.
struct Part {
  std::string name;
  std::function<void(Scenario&)> choose;
  bool refuses = false;  // a job that it believes to miss its deadline
  // Jobs for which it may never find a place, whatever is believed.
  bool gives_up = false;
  friend std::ostream& operator<<(std::ostream& out, const Part& part) { return out << part.name; }
};

std::vector<Part> other_parts() {
  std::vector<Part> parts;
  for (const Choice& row : choices_of(plugin_tables().placement)) {
    const bool gives_up = make_placement(row)->traits().strands;
    parts.push_back({"placement_" + case_name(row), [row](Scenario& s) { s.placement = row; },
                     false, gives_up});
  }
  for (const Choice& row : choices_of(plugin_tables().admission)) {
    parts.push_back({"admission_" + case_name(row), [row](Scenario& s) { s.admission = row; },
                     lists(make_admission(row)->needs(), Knowledge::kDeadline)});
  }
  for (const Choice& row : choices_of(plugin_tables().selector)) {
    parts.push_back({"selector_" + case_name(row), [row](Scenario& s) {
                       s.policy_sets = [] {
                         std::vector<PolicySet> sets;
                         sets.push_back(make_policy_set({"fifo"}));
                         sets.push_back(make_policy_set({"srtf"}));
                         return sets;
                       };
                       s.selector = [row] { return make_selector(row); };
                     }});
  }
  return parts;
}

class PartsUnderWrongBeliefs : public ::testing::TestWithParam<Part> {};

TEST_P(PartsUnderWrongBeliefs, LeaveNoJobBehind) {
  Scenario scenario = mixed_scenario();
  scenario.scheduling = {"srtf"};
  scenario.pacing = {"rounds", {{"length", "10"}}};
  GetParam().choose(scenario);
  const auto refused = [](const JobRecord& job) {
    return GetParam().refuses && job.deadline != kNever && job.status == JobState::kRefused;
  };
  for (const Belief& belief : kBeliefs) {
    SCOPED_TRACE(belief.name);
    Scenario wrong = scenario;
    wrong.jobs = as(belief, scenario.jobs);
    const RunLog log = simulate(wrong);
    EXPECT_EQ(log.jobs.size(), scenario.jobs.size());
    for (const JobRecord& job : log.jobs) {
      if (GetParam().gives_up || refused(job)) continue;
      EXPECT_EQ(job.status, JobState::kFinished) << line_of(job);
    }
  }
}

TEST_P(PartsUnderWrongBeliefs, TakeAMissingEstimateForAnHour) {
  Scenario scenario = mixed_scenario();
  scenario.scheduling = {"qssf"};
  scenario.pacing = {"rounds", {{"length", "10"}}};
  GetParam().choose(scenario);
  const std::vector<JobSpec> jobs = scenario.jobs;
  scenario.jobs = believed_jobs(jobs, Durations::kEstimate);
  const std::vector<std::string> missing = transcript(simulate(scenario));
  scenario.jobs = believed_jobs(with_an_hour(jobs), Durations::kEstimate);
  EXPECT_EQ(first_difference(missing, transcript(simulate(scenario))), "");
}

INSTANTIATE_TEST_SUITE_P(All, PartsUnderWrongBeliefs, ::testing::ValuesIn(other_parts()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace muster
