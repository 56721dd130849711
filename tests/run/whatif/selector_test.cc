// Questions to a run whose policies change while it runs: copies keep all that the question does
// not name. The world is that of two jobs on one node, by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "perf/product.h"
#include "run/config/load_config.h"
#include "run/whatif/question.h"
#include "support/simulation.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

// Chooses one set and never another.
class Always final : public Selector {
 public:
  explicit Always(std::size_t set) : set_(set) {}
  std::size_t select(const View&, std::size_t, WhatIf&) override { return set_; }
  std::unique_ptr<Selector> clone() const override { return std::make_unique<Always>(*this); }

 private:
  std::size_t set_;
};

// Keeps the set that rules.
class Keeps final : public Selector {
 public:
  std::size_t select(const View&, std::size_t current, WhatIf&) override { return current; }
  std::unique_ptr<Selector> clone() const override { return std::make_unique<Keeps>(*this); }
};

// Wakes all nodes, ten seconds after it was first asked.
class Wakes final : public ScalingPolicy {
 public:
  std::vector<PowerRequest> scale(const View& view) override {
    std::vector<PowerRequest> requests;
    for (std::uint32_t i = 0; i < view.cluster.node_count(); ++i) {
      if (view.now >= kFrom && !view.cluster.up(NodeId{i})) requests.push_back({NodeId{i}, true});
    }
    return requests;
  }
  Seconds wake(const View& view) const override { return view.now < kFrom ? kFrom : view.now + 1; }
  std::unique_ptr<ScalingPolicy> clone() const override { return std::make_unique<Wakes>(*this); }

 private:
  static constexpr Seconds kFrom = 1010;
};

std::shared_ptr<const PolicySet> set_of(const Choice& scheduling) {
  return std::make_shared<const PolicySet>(make_policy_set(scheduling));
}

// At 1000 s: job 0 runs on both GPUs of the first node and has 100 s left; job 1 wants both for 50
// s. Under fifo it waits, under srtf it goes first.
Subject two_jobs(int nodes) {
  Subject subject;
  EngineWorld& world = subject.world;
  world.now = 1000;
  world.next_id = 2;
  for (int n = 0; n < nodes; ++n) {
    world.nodes.push_back({NodeId{static_cast<std::uint32_t>(n)}, n == 0, false, false, 0});
  }
  for (std::uint32_t i = 0; i < 2; ++i) {
    Job& job = world.jobs.emplace_back();
    job.spec = job_of(900 * i, i == 0 ? 300 : 50, 2);
    job.spec.id = JobId{i};
    job.state = JobState::kQueued;
    job.total_work = job.spec.duration;
    job.admitted = job.waiting_since = job.spec.submit;
  }
  Job& runs = world.jobs.front();
  runs.state = JobState::kRunning;
  runs.gpus.add(NodeId{0}, 3);
  runs.work = runs.saved_work = 200;
  runs.rate = 1;
  runs.since = runs.held_since = runs.first_start = 1000;
  RunConfig config;
  config.cluster.shape = "1x2";
  config.workload.generator = {"poisson", {{"jobs", "2"}}};
  config.selector = {"look-ahead"};
  config.policy_sets.resize(2);
  config.policy_sets[0].scheduling = {"fifo"};
  config.policy_sets[1].scheduling = {"srtf"};
  auto complete = complete_config(std::move(config));
  EXPECT_TRUE(complete) << complete.error().message;
  subject.config = std::move(*complete);
  subject.parts.cluster = std::make_shared<const ClusterSpec>(uniform_cluster(nodes, 2));
  subject.parts.perf = multiply({});
  subject.parts.pacing = make_events();
  subject.parts.policy_sets = {set_of({"fifo"}), set_of({"srtf"})};
  subject.parts.selector = std::make_shared<const Always>(1);
  return subject;
}

Answer asked(Subject& subject, const Question& question) {
  auto answer = ask(subject, question);
  EXPECT_TRUE(answer) << answer.error().message;
  return answer ? std::move(*answer) : Answer{};
}

TEST(WhatIfWithSelector, MoreNodesLeaveItAsItIs) {
  Subject subject = two_jobs(1);
  Question question;
  question.change.add_nodes = "1x1";  // too small for either job
  for (const bool keeps : {false, true}) {
    if (keeps) {
      subject.parts.selector = std::make_shared<const Keeps>();
      subject.parts.active = 1;
    }
    const Answer answer = asked(subject, question);
    EXPECT_EQ(answer.as_is.jobs[1].end.believed, 1050);
    EXPECT_EQ(answer.changed->jobs[1].end.believed, 1050);
    EXPECT_EQ(answer.changed->jobs[0].end.believed, 1150);
  }
}

// What rules now is known to the engine that is asked about.
TEST(WhatIfWithSelector, TheSetThatRulesNowBegins) {
  Subject subject = two_jobs(1);
  Scenario scenario;
  scenario.cluster = *subject.parts.cluster;
  scenario.jobs = {job_of(0, 300, 2), job_of(200, 50, 2)};
  scenario.policy_sets = [] {
    std::vector<PolicySet> sets;
    sets.push_back(make_policy_set({"fifo"}));
    sets.push_back(make_policy_set({"srtf"}));
    return sets;
  };
  scenario.selector = [] { return std::make_unique<Always>(1); };
  TestRun run(scenario);
  run.turn_to(0);
  subject.world = run.engine().world();
  subject.parts.running = {std::shared_ptr<const Engine>(), &run.engine()};
  subject.parts.selector = std::make_shared<const Keeps>();
  Question question;
  question.change.add_nodes = "1x1";
  question.change.submit = {"gpus=2,duration=10"};
  const Answer answer = asked(subject, question);
  EXPECT_EQ(answer.changed->jobs[1].end.believed, 10) << "srtf rules";
  EXPECT_EQ(answer.changed->jobs[0].end.believed, 310);
}

TEST(WhatIfWithSelector, AnotherSchedulingPolicyRulesAlone) {
  Subject subject = two_jobs(1);
  Question question;
  question.scheduling = "fifo";
  const Answer answer = asked(subject, question);
  EXPECT_EQ(answer.as_is.jobs[1].end.believed, 1050);
  EXPECT_EQ(answer.changed->jobs[1].end.believed, 1150);
}

// It has the admission of the set that rules now.
TEST(WhatIfWithSelector, AnotherSchedulingPolicyKeepsTheAdmissionThatRules) {
  Subject subject = two_jobs(1);
  subject.config.policy_sets[0].admission = {"deadline"};
  Question question;
  question.scheduling = "edf";
  question.change.submit = {"gpus=2,duration=100,deadline=10"};
  for (const std::size_t active : {0U, 1U}) {
    subject.parts.active = active;
    const Answer answer = asked(subject, question);
    EXPECT_EQ(answer.changed->jobs[2].refused == Reason::kNone, active == 1);
  }
}

// It is that of every set, and the selector goes on choosing among them.
TEST(WhatIfWithSelector, AnotherPlacementIsThatOfEverySet) {
  Subject subject = two_jobs(1);
  for (const char* placement : {"scattered", "consolidated"}) {
    Question question;
    question.placement = placement;
    const Answer answer = asked(subject, question);
    ASSERT_TRUE(answer.changed);
    EXPECT_EQ(answer.changed->jobs[1].end.believed, 1050) << placement;
    EXPECT_EQ(answer.changed->jobs[0].end.believed, 1150) << placement;
  }
  Question question;
  question.placement = "scatered";
  EXPECT_THAT(ask(subject, question).error().message, HasSubstr("did you mean 'scattered'"));
}

TEST(WhatIfWithScaling, NodesThatSleepAreWokenInEveryCopy) {
  Subject subject = two_jobs(2);
  subject.parts.policy_sets = {set_of({"fifo"})};
  subject.parts.selector = nullptr;
  subject.config.policy_sets.clear();
  subject.config.selector = {};
  subject.parts.scaling = std::make_shared<const Wakes>();
  Question nodes;
  nodes.change.add_nodes = "1x1";
  Question placement;
  placement.placement = "scattered";
  for (const Question& question : {nodes, placement}) {
    const Answer answer = asked(subject, question);
    EXPECT_LT(answer.as_is.jobs[1].start.believed, 1020);
    EXPECT_EQ(answer.changed->jobs[1].start.believed, answer.as_is.jobs[1].start.believed);
  }
}

}  // namespace
}  // namespace muster
