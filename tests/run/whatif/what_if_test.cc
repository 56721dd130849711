// Questions to a state. Every timeline is computed by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "perf/product.h"
#include "run/config/plugin_tables.h"
#include "run/whatif/question.h"
#include "support/simulation.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

// At 1000 s: job 0 runs on both GPUs of the only node and has 100 s left; job 1 wants both for 50
// s.
EngineWorld two_jobs() {
  EngineWorld world;
  world.now = 1000;
  world.next_id = 2;
  world.nodes = {{NodeId{0}, true, false, false, 0}};
  Job runs;
  runs.spec = job_of(0, 300, 2);
  runs.spec.id = JobId{0};
  runs.state = JobState::kRunning;
  runs.gpus.add(NodeId{0}, 3);
  runs.total_work = 300;
  runs.work = runs.saved_work = 200;
  runs.rate = 1;
  runs.since = runs.held_since = runs.first_start = 1000;
  world.jobs.push_back(runs);
  Job waits;
  waits.spec = job_of(900, 50, 2);
  waits.spec.id = JobId{1};
  waits.state = JobState::kQueued;
  waits.total_work = 50;
  waits.admitted = waits.waiting_since = 900;
  world.jobs.push_back(waits);
  return world;
}

OutlookParts parts_of(const Choice& scheduling) {
  OutlookParts parts;
  parts.cluster = std::make_shared<const ClusterSpec>(uniform_cluster(1, 2));
  parts.perf = multiply({});
  parts.pacing = make_events();
  parts.policy_sets = {std::make_shared<const PolicySet>(make_policy_set(scheduling))};
  return parts;
}

Answer asked(const Choice& scheduling, const Change& change, const OutlookOptions& options = {}) {
  Symbols symbols;
  auto answer = ask(two_jobs(), parts_of(scheduling), change, options, symbols);
  EXPECT_TRUE(answer) << answer.error().message;
  return answer ? std::move(*answer) : Answer{};
}

TEST(WhatIf, SaysWhenJobsStartAndEnd) {
  const Answer answer = asked({"fifo"}, {});
  ASSERT_EQ(answer.as_is.jobs.size(), 2U);
  EXPECT_EQ(answer.as_is.jobs[0].start.believed, 1000);
  EXPECT_EQ(answer.as_is.jobs[0].end.believed, 1100);
  EXPECT_EQ(answer.as_is.jobs[1].start.believed, 1100);
  EXPECT_EQ(answer.as_is.jobs[1].end.believed, 1150);
  EXPECT_EQ(answer.as_is.last_end.believed, 1150);
  EXPECT_EQ(answer.as_is.completion_time.believed, (1100 + 250) / 2.0);
  EXPECT_FALSE(answer.changed);
}

TEST(WhatIf, OfAnotherPolicy) {
  Change change;
  change.policy_sets = {std::make_shared<const PolicySet>(make_policy_set({"srtf"}))};
  const Answer answer = asked({"fifo"}, change);
  EXPECT_EQ(answer.changed->jobs[1].start.believed, 1000);
  EXPECT_EQ(answer.changed->jobs[1].end.believed, 1050);
  EXPECT_EQ(answer.changed->jobs[0].end.believed, 1150);
}

TEST(WhatIf, OfMoreNodes) {
  Change change;
  change.add_nodes = "1x2";
  const Answer answer = asked({"fifo"}, change);
  EXPECT_EQ(answer.changed->jobs[1].start.believed, 1000);
  EXPECT_EQ(answer.changed->last_end.believed, 1100);
}

TEST(WhatIf, OfDrainedNodes) {
  Change change;
  change.drain = {"node=0"};
  const Answer answer = asked({"fifo"}, change);
  EXPECT_EQ(answer.changed->jobs[0].end.believed, 1100) << "who runs there goes on";
  EXPECT_EQ(answer.changed->jobs[1].end.believed, kNever);
  EXPECT_EQ(answer.changed->unfinished, 1);
  EXPECT_EQ(answer.drained, 1100);
}

TEST(WhatIf, OfOneMoreJob) {
  Change change;
  change.submit = {"gpus=2,duration=10"};
  const Answer answer = asked({"srtf"}, change);
  ASSERT_EQ(answer.changed->jobs.size(), 3U);
  EXPECT_EQ(answer.changed->jobs[2].name, "new");
  EXPECT_EQ(answer.changed->jobs[2].end.believed, 1010);
  EXPECT_EQ(answer.changed->jobs[1].end.believed, 1060);
  EXPECT_EQ(answer.changed->jobs[0].end.believed, 1160);
}

// The job that is asked about has another length: it counts in neither mean.
TEST(WhatIf, MeansAreOverTheSameJobs) {
  Change change;
  change.submit = {"gpus=2,duration=10000"};
  const Answer behind = asked({"fifo"}, change);
  EXPECT_EQ(behind.changed->completion_time.believed, (1100 + 250) / 2.0);
  EXPECT_EQ(behind.as_is.completion_time.believed, (1100 + 250) / 2.0);
  EXPECT_EQ(behind.changed->last_end.believed, 11150);
  // Nor does one that has no end with the change.
  Change drained;
  drained.drain = {"node=0"};
  const Answer answer = asked({"fifo"}, drained);
  EXPECT_EQ(answer.as_is.completion_time.believed, 1100);
  EXPECT_EQ(answer.changed->completion_time.believed, 1100);
}

// What starts and stops take in the run they take in its copies, on average.
TEST(WhatIf, CommandsTakeTheirTime) {
  OutlookParts parts = parts_of({"fifo"});
  parts.life.start_latency = 10;
  parts.life.start_failure = 1;
  Symbols symbols;
  const auto answer = ask(two_jobs(), parts, {}, {}, symbols);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->as_is.jobs[1].start.believed, 1110);
  EXPECT_EQ(answer->as_is.jobs[1].end.believed, 1160);
  OutlookOptions starts;
  starts.starts_of = {JobId{1}};
  const auto outlook = look_out(two_jobs(), parts, starts);
  ASSERT_TRUE(outlook) << outlook.error().message;
  EXPECT_EQ(outlook->jobs[1].start.believed, 1110);
}

// A service may have jobs that its engine has not seen.
TEST(WhatIf, JobsThatHaveNotComeYetDoAtOnce) {
  for (const bool anew : {false, true}) {
    OutlookParts parts = parts_of({"srtf"});
    parts.newcomers_from = JobId{1};
    Change change;
    change.submit = {"gpus=2,duration=10"};
    if (anew) change.policy_sets = {std::make_shared<const PolicySet>(make_policy_set({"srtf"}))};
    Symbols symbols;
    const auto answer = ask(two_jobs(), parts, change, {}, symbols);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->as_is.jobs[1].end.believed, 1050);
    EXPECT_EQ(answer->changed->jobs[1].end.believed, 1060);
    EXPECT_EQ(answer->changed->jobs[2].end.believed, 1010);
  }
}

// It is there: what it waits for may come back.
TEST(WhatIf, AJobThatWaitsForANodeIsNotRefused) {
  Change change;
  change.drain = {"node=0"};
  change.submit = {"gpus=1,duration=10"};
  for (const bool anew : {false, true}) {
    if (anew) change.policy_sets = {std::make_shared<const PolicySet>(make_policy_set({"srtf"}))};
    const Answer answer = asked({"fifo"}, change);
    for (const std::size_t job : {1U, 2U}) {
      EXPECT_EQ(answer.changed->jobs[job].refused, Reason::kNone);
      EXPECT_TRUE(answer.changed->jobs[job].stuck);
    }
    EXPECT_FALSE(answer.as_is.jobs[1].stuck);
    const auto text = answer_text(answer, {}, false);
    ASSERT_TRUE(text);
    EXPECT_THAT(*text, HasSubstr("no predicted end: it waits while a node is down or drained"));
    EXPECT_THAT(answer_json(answer), HasSubstr("it waits while a node is down or drained"));
  }
  EngineWorld world = two_jobs();
  OutlookParts parts = parts_of({"fifo"});
  parts.cluster = std::make_shared<const ClusterSpec>(uniform_cluster(2, 2));
  world.jobs[1].spec.gpus = 4;
  world.nodes.push_back({NodeId{1}, false, false, false, 0});
  Symbols symbols;
  const auto answer = ask(world, parts, {}, {}, symbols);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->as_is.jobs[1].refused, Reason::kNone);
  EXPECT_TRUE(answer->as_is.jobs[1].stuck);
}

TEST(WhatIf, ANewJobThatNeverFitsIsRefused) {
  Change change;
  change.submit = {"gpus=99,duration=10"};
  for (const bool anew : {false, true}) {
    if (anew) change.policy_sets = {std::make_shared<const PolicySet>(make_policy_set({"srtf"}))};
    const Answer answer = asked({"fifo"}, change);
    EXPECT_EQ(answer.changed->jobs[2].refused, Reason::kNeverFits);
    const auto text = answer_text(answer, {}, false);
    ASSERT_TRUE(text);
    EXPECT_THAT(*text, HasSubstr("refused: it asks for more"));
    EXPECT_THAT(answer_json(answer), HasSubstr("\"refused\": \"never-fits\""));
  }
  // With the nodes that it needs it is not.
  change.add_nodes = "49x2";
  EXPECT_EQ(asked({"fifo"}, change).changed->jobs[2].refused, Reason::kNone);
}

// What is so now and what would be stand apart: the new job is nowhere as it is.
TEST(WhatIf, ANewJobStandsInTheColumnsOfTheChange) {
  Change change;
  change.submit = {"gpus=2,duration=10"};
  const auto text = answer_text(asked({"srtf"}, change), {"new", "#1"}, false);
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, ::testing::ContainsRegex("new .*not there +not there +now +in 10 s"));
  EXPECT_THAT(*text, ::testing::ContainsRegex("now +in 50 s +in 10 s +in 1 min, 10 s later"));
}

OutlookOptions with_errors(const Symbols& symbols, double sigma) {
  OutlookOptions options;
  options.errors = [&symbols, sigma](int sample) {
    const auto* row = *find_row("error model", error_model_table(), "log-normal");
    return row->make(
        *Params::make("errors", row->params,
                      {{"sigma", std::to_string(sigma)}, {"seed", std::to_string(sample + 1)}}),
        symbols);
  };
  return options;
}

TEST(WhatIf, BandsCoverWhatBeliefsMayBeWrongBy) {
  const Symbols symbols;
  const Answer sure = asked({"fifo"}, {}, with_errors(symbols, 0));
  EXPECT_EQ(sure.as_is.jobs[1].end.early, 1150);
  EXPECT_EQ(sure.as_is.jobs[1].end.late, 1150);
  const auto plain = answer_text(sure, {"#1"}, false);
  ASSERT_TRUE(plain);
  EXPECT_THAT(*plain, HasSubstr("in 2 min 30 s"));
  EXPECT_THAT(*plain, ::testing::Not(HasSubstr("(")));
  // All futures agree, and not with what is believed.
  OutlookOptions biased;
  biased.errors = [](int) -> std::unique_ptr<ErrorModel> {
    struct Twice final : ErrorModel {
      double factor(const JobSpec&) override { return 0.5; }
    };
    return std::make_unique<Twice>();
  };
  const Answer longer = asked({"fifo"}, {}, biased);
  EXPECT_EQ(longer.as_is.jobs[0].end.early, 1400);
  EXPECT_EQ(longer.as_is.jobs[0].end.late, 1400);
  const auto shown = answer_text(longer, {"#0"}, false);
  ASSERT_TRUE(shown);
  EXPECT_THAT(*shown, HasSubstr("in 1 min 40 s (6 min 40 s to 6 min 40 s)"));
  const Answer unsure = asked({"fifo"}, {}, with_errors(symbols, 0.5));
  const JobOutlook& running = unsure.as_is.jobs[0];
  EXPECT_EQ(running.end.believed, 1100);
  EXPECT_LT(running.end.early, 1100);
  EXPECT_GT(running.end.late, 1100);
  // What it has done it has done.
  EXPECT_GT(running.end.early, 1000);
  EXPECT_EQ(unsure.as_is.jobs[1].start.late, running.end.late);
  const Answer again = asked({"fifo"}, {}, with_errors(symbols, 0.5));
  EXPECT_EQ(answer_json(again), answer_json(unsure));
}

// The copies draw how long jobs are; the policy in them does not know.
TEST(WhatIf, PoliciesSeeBeliefsInEveryCopy) {
  const Symbols symbols;
  const Answer answer = asked({"srtf"}, {}, with_errors(symbols, 1));
  // The one that waits is believed to be the shorter, so it starts first in every copy.
  EXPECT_EQ(answer.as_is.jobs[1].start.early, 1000);
  EXPECT_EQ(answer.as_is.jobs[1].start.late, 1000);
}

TEST(WhatIf, LooksNoFurtherThanAsked) {
  OutlookOptions options;
  options.starts_of = {JobId{1}};
  const Answer answer = asked({"fifo"}, {}, options);
  EXPECT_EQ(answer.as_is.jobs[1].start.believed, 1100);
  EXPECT_EQ(answer.as_is.jobs[1].end.believed, kNever) << "nobody asked";
  Symbols symbols;
  OutlookOptions hurried;
  hurried.keep_going = [] { return false; };
  const auto none = ask(two_jobs(), parts_of({"fifo"}), {}, hurried, symbols);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("not enough time"));
}

// A job that takes no time has no length to be wrong about.
TEST(WhatIf, OfJobsThatTakeNoTime) {
  const Symbols symbols;
  Symbols own;
  EngineWorld world = two_jobs();
  world.jobs[1].spec.duration = world.jobs[1].total_work = 0;
  const auto answer = ask(world, parts_of({"fifo"}), {}, with_errors(symbols, 0.5), own);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->as_is.jobs[1].end.believed, 1100);
}

TEST(Question, PassesThroughJson) {
  Question question;
  question.jobs = {"a", "#2"};
  question.scheduling = "srtf";
  question.placement = "scattered";
  question.admission = "accept-all";
  question.change.add_nodes = "2x8";
  question.change.drain = {"node=1", "rack=2"};
  question.change.submit = {"gpus=2"};
  question.errors = "log-normal:sigma=1";
  question.samples = 30;
  question.horizon = 1e5;
  const auto again = parse_question(question_json(question));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(question_json(*again), question_json(question));
  EXPECT_EQ(again->change.drain, question.change.drain);
  EXPECT_EQ(again->samples, 30);
  EXPECT_EQ(again->horizon, 1e5);
  EXPECT_EQ(question_json({}), "{}");
  EXPECT_TRUE(parse_question(""));
  EXPECT_THAT(parse_question(R"({"schedulin": "x"})").error().message,
              HasSubstr("did you mean 'scheduling'"));
  EXPECT_THAT(parse_question(R"({"samples": 0})").error().message, HasSubstr("'samples'"));
  EXPECT_FALSE(parse_question("[]"));
}

TEST(WhatIf, SaysWhatItDoesNotUnderstand) {
  Symbols symbols;
  const auto problem = [&](const Change& change) {
    const auto answer = ask(two_jobs(), parts_of({"fifo"}), change, {}, symbols);
    return answer ? std::string() : answer.error().message;
  };
  Change drain;
  drain.drain = {"rack=7"};
  EXPECT_THAT(problem(drain), HasSubstr("the cluster of 1 nodes has no such rack"));
  drain.drain = {"everything"};
  EXPECT_THAT(problem(drain), HasSubstr("expected node=N, rack=N or partition=NAME"));
  Change submit;
  submit.submit = {"gpu=2"};
  EXPECT_THAT(problem(submit), HasSubstr("did you mean 'gpus'"));
  const Answer answer = asked({"fifo"}, {});
  EXPECT_THAT(answer_text(answer, {"7"}, false).error().message,
              HasSubstr("job '7' is not among the 2 that run or wait"));
}

// A job without an end is not done, and one that was refused is not waited for.
TEST(WhatIf, SaysHowManyHaveNoPredictedEnd) {
  Change drained;
  drained.drain = {"node=0"};
  const auto some = answer_text(asked({"fifo"}, drained), {}, false);
  ASSERT_TRUE(some);
  EXPECT_THAT(*some, HasSubstr("all done              in 2 min 30 s; with the change a job has no "
                               "predicted end, the others are done in 1 min 40 s\n"));
  Change refused;
  refused.submit = {"gpus=200"};
  const auto all = answer_text(asked({"fifo"}, refused), {}, false);
  ASSERT_TRUE(all);
  EXPECT_THAT(*all,
              HasSubstr("all done              in 2 min 30 s; with the change in 2 min 30 s"));
}

// The run stops being simulated then; its jobs would go on.
TEST(WhatIf, LooksBeyondTheEndOfTheSimulation) {
  OutlookParts parts = parts_of({"fifo"});
  parts.options.until = 1120;
  Symbols symbols;
  const auto answer = ask(two_jobs(), parts, {}, {}, symbols);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->as_is.jobs[1].end.believed, 1150);
  OutlookOptions options;
  options.horizon = 120;
  const auto near = ask(two_jobs(), parts, {}, options, symbols);
  ASSERT_TRUE(near) << near.error().message;
  EXPECT_EQ(near->as_is.jobs[0].end.believed, 1100);
  EXPECT_EQ(near->as_is.jobs[1].end.believed, kNever);
}

TEST(WhatIf, TellsPeople) {
  Change change;
  change.add_nodes = "1x2";
  const auto text = answer_text(asked({"fifo"}, change), {}, false);
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, HasSubstr("1 jobs run, 1 wait"));
  EXPECT_THAT(*text, HasSubstr("1 min 40 s earlier"));
}

}  // namespace
}  // namespace muster
