// Another policy in a what-if question: every row of the table answers or is refused, in the words
// of a simulation, and nobody waits for ever.
#include <algorithm>
#include <atomic>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "perf/product.h"
#include "run/config/load_config.h"
#include "run/config/plugin_tables.h"
#include "run/whatif/question.h"
#include "support/simulation.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

// Two nodes of 4 GPUs, six jobs: one runs on the first node, the others wait.
Subject crowded() {
  Subject subject;
  subject.world.now = 1000;
  subject.world.next_id = 6;
  for (std::uint32_t n = 0; n < 2; ++n) {
    subject.world.nodes.push_back({NodeId{n}, true, false, false, 0});
  }
  for (std::uint32_t i = 0; i < 6; ++i) {
    Job& job = subject.world.jobs.emplace_back();
    job.spec = job_of(900 + i, 100 + 40 * i, 1 + static_cast<int>(i) % 4);
    job.spec.id = JobId{i};
    job.spec.deadline = 5000 + 100 * i;
    job.spec.estimate = job.spec.duration;
    job.state = JobState::kQueued;
    job.total_work = job.spec.duration;
    job.admitted = job.waiting_since = job.spec.submit;
  }
  Job& runs = subject.world.jobs.front();
  runs.state = JobState::kRunning;
  runs.gpus.add(NodeId{0}, 1);
  runs.work = runs.saved_work = 50;
  runs.rate = 1;
  runs.since = runs.held_since = runs.first_start = 1000;
  RunConfig config;
  config.cluster.shape = "2x4";
  config.scheduling.name = "fifo";
  config.workload.generator = {"poisson", {{"jobs", "6"}}};
  auto complete = complete_config(std::move(config));
  EXPECT_TRUE(complete) << complete.error().message;
  subject.config = std::move(*complete);
  subject.parts.cluster = std::make_shared<const ClusterSpec>(uniform_cluster(2, 4));
  subject.parts.perf = multiply({});
  subject.parts.pacing = make_pacing(subject.config.pacing);
  subject.parts.policy_sets = {std::make_shared<const PolicySet>(make_policy_set({"fifo"}))};
  return subject;
}

// What is said to a question that may take this many turns in all.
Result<Answer> asked_within(Subject& subject, const Choice& scheduling) {
  constexpr int kMostTurns = 20000;
  std::atomic<int> turns = 0;
  Question question;
  question.scheduling = scheduling.text();
  return ask(subject, question, [&turns] { return ++turns < kMostTurns; });
}

class OtherPolicy : public ::testing::TestWithParam<Choice> {};

TEST_P(OtherPolicy, AnswersOrIsRefused) {
  Subject subject = crowded();
  const auto answer = asked_within(subject, GetParam());
  if (!answer) {
    EXPECT_THAT(answer.error().message,
                ::testing::AnyOf(HasSubstr("counts on turns of the pacing"), HasSubstr("needs")))
        << "it was refused in other words than those of a simulation";
    return;
  }
  EXPECT_FALSE(make_scheduling(GetParam())->traits().reproduces_simulator)
      << "no copy that looks ahead is the simulator that it repeats";
  ASSERT_TRUE(answer->changed);
  EXPECT_EQ(answer->changed->unfinished, 0);
}

std::vector<Choice> every_scheduling_policy() {
  std::vector<Choice> choices;
  for (const auto& row : plugin_tables().scheduling) choices.push_back({std::string(row.name)});
  return choices;
}

INSTANTIATE_TEST_SUITE_P(Policies, OtherPolicy, ::testing::ValuesIn(every_scheduling_policy()),
                         [](const auto& row) {
                           std::string name = row.param.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// Under its own pacing a published scheduler could be simulated, but not from the middle on.
TEST(OtherPolicyOfASimulator, IsRefusedUnderItsOwnPacingToo) {
  Subject subject = crowded();
  const auto published = make_scheduling({"elasticflow-as-coded"});
  subject.config.pacing = {std::string(published->traits().pacing)};
  const auto answer = asked_within(subject, {"elasticflow-as-coded"});
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("ends jobs by its own clock"));
}

// The run itself may be one of those: there is no copy of it to be asked.
TEST(OtherPolicyOfASimulator, IsRefusedAsThatOfTheRun) {
  Subject subject = crowded();
  subject.parts.policy_sets = {
      std::make_shared<const PolicySet>(make_policy_set({"elasticflow-as-coded"}))};
  const auto answer = ask(subject, {}, {});
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("ends jobs by its own clock"));
}

}  // namespace
}  // namespace muster
