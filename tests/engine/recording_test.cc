#include "engine/recording.h"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/recording_text.h"
#include "support/full_job.h"
#include "support/hostile_names.h"
#include "support/simulation.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

std::string complaint(const std::string& lines) {
  Symbols symbols;
  const auto read = read_recording("muster-recording 1 external\n" + lines, symbols);
  return read ? "" : read.error().message;
}

// Long: every field that there is, written and read.
TEST(RecordingText, KeepsEveryFieldExactly) {
  Symbols symbols;
  Recording::Offer offer{2, full_job(symbols), true};
  offer.job.id = JobId{77};
  Recording::Wait wait;
  wait.until = kNever;
  wait.stop_at_event = true;
  wait.reached = 0.1 + 0.2;
  JobEvent event;
  auto& [time, kind, revision, slot, job, launch, node, gpu, work, rate, saved_step, value,
         metric] = event;
  time = 0.3;
  kind = EventKind::kRevised;
  revision = Revision::kDeadline;
  launch = 9;
  saved_step = 0.25;
  value = 1e9;
  metric = symbols.intern("loss of 1");
  slot = Slot{3};
  job = JobId{4};
  node = NodeId{5};
  gpu = 6;
  work = 1.0 / 7;
  rate = 2;
  wait.events = {event, JobEvent{}};
  Recording::Act act;
  act.kind = CommandKind::kResize;
  act.at = 12.5;
  act.slot = Slot{1};
  act.job = JobId{2};
  act.gpus.add(NodeId{0}, 0xff);
  act.gpus.add(NodeId{7}, ~std::uint64_t{0});
  act.graceful = false;
  auto& [pace_work, pace_rate, since, saved, added] = act.progress;
  pace_work = 0.1;
  pace_rate = 0.7;
  since = 13;
  saved = 0.05;
  added = 62;
  const std::string text = recording_header({.has_external_events = true, .numbers_jobs = true}) +
                           "# a remark\n\n" + text_of(offer, symbols) + text_of(wait, symbols) +
                           text_of(Recording::Outlook{kNever}, symbols) + text_of(act, symbols) +
                           text_of(Recording::Close{1}, symbols) + recording_end();
  Symbols others;
  others.intern("shifts the numbers of all symbols");
  const auto read = read_recording(text, others);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->complete);
  EXPECT_TRUE(read->has_external_events);
  ASSERT_EQ(read->entries.size(), 5U);
  const auto& offer_again = std::get<Recording::Offer>(read->entries[0]);
  EXPECT_EQ(offer_again.refusals, 2);
  EXPECT_TRUE(same_fields(offer_again.job, full_job(others)));
  EXPECT_TRUE(read->numbers_jobs);
  EXPECT_EQ(offer_again.job.id, JobId{77});
  EXPECT_TRUE(offer_again.last);
  const auto& wait_again = std::get<Recording::Wait>(read->entries[1]);
  EXPECT_EQ(wait_again.until, kNever);
  EXPECT_EQ(wait_again.reached, wait.reached);
  ASSERT_EQ(wait_again.events.size(), 2U);
  EXPECT_EQ(wait_again.events[0].kind, EventKind::kRevised);
  EXPECT_EQ(wait_again.events[0].revision, Revision::kDeadline);
  EXPECT_EQ(wait_again.events[0].launch, 9U);
  EXPECT_EQ(wait_again.events[0].saved, 0.25);
  EXPECT_EQ(wait_again.events[0].value, 1e9);
  EXPECT_EQ(others.text(wait_again.events[0].metric), "loss of 1");
  EXPECT_EQ(wait_again.events[0].slot, Slot{3});
  EXPECT_EQ(wait_again.events[0].job, JobId{4});
  EXPECT_EQ(wait_again.events[0].node, NodeId{5});
  EXPECT_EQ(wait_again.events[0].gpu, 6);
  EXPECT_EQ(wait_again.events[0].work, work);
  EXPECT_EQ(wait_again.events[1].slot, kNoSlot);
  EXPECT_EQ(wait_again.events[1].gpu, -1);
  EXPECT_EQ(std::get<Recording::Outlook>(read->entries[2]).time, kNever);
  const auto& act_again = std::get<Recording::Act>(read->entries[3]);
  EXPECT_EQ(act_again.kind, CommandKind::kResize);
  EXPECT_EQ(act_again.gpus, act.gpus);
  EXPECT_FALSE(act_again.graceful);
  EXPECT_EQ(act_again.progress.saved_work, 0.05);
  EXPECT_EQ(act_again.progress.added_work, 62);
  EXPECT_EQ(std::get<Recording::Close>(read->entries[4]).refusals, 1);
}

TEST(RecordingText, KeepsAnyName) {
  Symbols symbols;
  std::string text = recording_header({});
  std::vector<JobSpec> jobs;
  for (const std::string& name : hostile_names()) {
    JobSpec& job = jobs.emplace_back(full_job(symbols));
    job.name = name;
    job.model = job.user = job.partition = job.gpu_type = symbols.intern(name);
    text += text_of(Recording::Offer{0, job}, symbols);
  }
  const auto read = read_recording(text, symbols);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->entries.size(), jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    EXPECT_TRUE(same_fields(std::get<Recording::Offer>(read->entries[i]).job, jobs[i]))
        << jobs[i].name;
  }
}

TEST(RecordingText, ACommandNamesItsJobAndSlot) {
  EXPECT_THAT(complaint("start 0.5 - 0 0:3 graceful 0 1 0.5 0 0\n"),
              HasSubstr("found '-', but expected a slot"));
  EXPECT_THAT(complaint("stop 0.5 0 - 0:3 abrupt 0 1 0.5 0 0\n"),
              HasSubstr("found '-', but expected the number of a job"));
}

TEST(RecordingText, ComplaintsNameLineFindingAndExpectation) {
  EXPECT_EQ(complaint("wait 1 time 2\nwait x time 2\n"),
            "recording, line 3: found 'x', but expected the time waited for in seconds");
  EXPECT_THAT(complaint("fly 1\n"), HasSubstr("found 'fly'"));
  EXPECT_THAT(complaint("wait 1 soon 2\n"), HasSubstr("expected time or event"));
  EXPECT_THAT(complaint("wait 1 time\n"), HasSubstr("found 'the end of the line'"));
  EXPECT_THAT(complaint("wait 1 time 2 3\n"), HasSubstr("found '3'"));
  EXPECT_THAT(complaint("wait nan time 2\n"), HasSubstr("found 'nan'"));
  EXPECT_THAT(complaint("event 1 finished 0 0 - -1 0 0\n"), HasSubstr("only after the wait"));
  EXPECT_THAT(complaint("job 0 gpus=many\n"), HasSubstr("a legal value"));
  EXPECT_THAT(complaint("job 0 wheels=4\n"), HasSubstr("a field of the job"));
  EXPECT_THAT(complaint("job 0 name=%2\n"), HasSubstr("a legal value"));
  EXPECT_THAT(complaint("start 1 0 0 0:g graceful 0 1 1 0\n"), HasSubstr("node:mask"));
  EXPECT_THAT(complaint("end\nwait 1 time 2\n"), HasSubstr("nothing after the end"));
  Symbols symbols;
  EXPECT_THAT(read_recording("", symbols).error().message, HasSubstr("empty"));
  EXPECT_THAT(read_recording("muster-recording 9 foreseen\n", symbols).error().message,
              HasSubstr("found 'version 9'"));
  EXPECT_THAT(read_recording("job_id,submit_s\n", symbols).error().message,
              HasSubstr("muster-recording"));
}

TEST(RecordingText, WhatWasCutOffIsReadAsFarAsItGoes) {
  Symbols symbols;
  const auto read =
      read_recording("muster-recording 1 foreseen\nwait 1 time 1\nwait 2 ti", symbols);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->entries.size(), 1U);
  EXPECT_FALSE(read->complete);
}

// A run of a simulation, recorded, and engines of any make that go through it again.
class SimulatedRecording : public ::testing::Test {
 protected:
  SimulatedRecording() {
    scenario_.cluster = uniform_cluster(2, 4);
    for (int i = 0; i < 40; ++i) {
      scenario_.jobs.push_back(job_of(5.0 * i, 10.0 + 7 * (i % 9), 1 + i % 4));
    }
    scenario_.pacing = {"rounds", {{"length", "10"}}};
    scenario_.failures.node_mtbf = 300;
    scenario_.failures.node_repair = 20;
    std::ostringstream out;
    SimBackend simulator({.cluster = cluster(), .perf = perf_, .failures = scenario_.failures});
    ListSource source(scenario_.jobs);
    Recorder recorder(simulator, source, symbols_, out);
    Engine engine(parts("las", recorder.backend(), recorder.source(), log_));
    const Status status = engine.run();
    EXPECT_TRUE(status);
    recorder.finish();
    text_ = out.str();
  }

  std::shared_ptr<const ClusterSpec> cluster() const {
    return std::make_shared<const ClusterSpec>(scenario_.cluster);
  }
  Engine::Parts parts(const char* policy, Backend& backend, JobSource& source, RunLog& log) const {
    Engine::Parts parts;
    parts.cluster = cluster();
    parts.perf = perf_;
    parts.pacing = make_pacing(scenario_.pacing);
    parts.policy_sets.push_back(make_policy_set({policy}));
    parts.backend = &backend;
    parts.source = &source;
    parts.observers = {&log};
    return parts;
  }
  Recording recording(const std::string& text) {
    auto read = read_recording(text, symbols_);
    EXPECT_TRUE(read);
    return std::move(*read);
  }

  Scenario scenario_;
  Symbols symbols_;
  std::shared_ptr<const PerfModel> perf_ = make_perf({"ideal"}, symbols_);
  RunLog log_;
  std::string text_;
};

TEST_F(SimulatedRecording, ReplaysToTheSameDecisions) {
  const Recording recorded = recording(text_);
  Replay replay(recorded);
  RunLog again;
  Engine engine(parts("las", replay.backend(), replay.source(), again));
  const Status status = replay.run(engine);
  EXPECT_TRUE(status) << status.error().message;
  EXPECT_TRUE(replay.exhausted());
  EXPECT_EQ(again.lines(), log_.lines());
  EXPECT_EQ(again.jobs.size(), 40U);
}

TEST_F(SimulatedRecording, DiffersUnderAnotherPolicy) {
  const Recording recorded = recording(text_);
  Replay replay(recorded);
  RunLog again;
  Engine engine(parts("fifo", replay.backend(), replay.source(), again));
  const Status status = replay.run(engine);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("the recording has '"));
  EXPECT_THAT(status.error().message, HasSubstr("but this run"));
}

TEST_F(SimulatedRecording, IsFollowedToWhereItWasCutOff) {
  const Recording recorded = recording(text_.substr(0, text_.size() / 2));
  Replay replay(recorded);
  RunLog again;
  Engine engine(parts("las", replay.backend(), replay.source(), again));
  EXPECT_TRUE(replay.run(engine));
  EXPECT_TRUE(replay.exhausted());
  const auto all = log_.lines();
  const auto some = again.lines();
  ASSERT_GT(some.size(), 20U);
  // The last turn may be half done; what went before is as recorded.
  for (std::size_t i = 0; i + 10 < some.size(); ++i) EXPECT_EQ(some[i], all[i]);
}

// Answers that come later are a part of it: starts that take time and fail, stops that take time.
TEST_F(SimulatedRecording, ReplaysAnswersThatComeLater) {
  std::ostringstream out;
  LifeBackend simulator({.cluster = cluster(), .perf = perf_, .failures = scenario_.failures},
                        {.start_latency = 2, .stop_latency = 3, .start_failure = 0.2});
  ListSource source(scenario_.jobs);
  Recorder recorder(simulator, source, symbols_, out);
  RunLog live;
  Engine engine(parts("srtf", recorder.backend(), recorder.source(), live));
  ASSERT_TRUE(engine.run());
  recorder.finish();
  EXPECT_THAT(out.str(), HasSubstr(" returned "));
  EXPECT_THAT(out.str(), HasSubstr(" launch=2"));
  const Recording recorded = recording(out.str());
  EXPECT_TRUE(recorded.answers_later);
  Replay replay(recorded);
  RunLog again;
  Engine engine_again(parts("srtf", replay.backend(), replay.source(), again));
  const Status status = replay.run(engine_again);
  EXPECT_TRUE(status) << status.error().message;
  EXPECT_TRUE(replay.exhausted());
  EXPECT_EQ(again.lines(), live.lines());
}

// A live inbox: jobs appear between two looks, with no other entry in between.
TEST(RecordingSource, RemembersWhenAJobAppeared) {
  class Inbox final : public JobSource {
   public:
    const JobSpec* peek() override { return looks_++ < 2 ? nullptr : job_ ? &*job_ : nullptr; }
    void pop() override { job_.reset(); }
    bool finished() override { return !job_ && denials_++ >= 3; }

   private:
    std::optional<JobSpec> job_ = job_of(0, 1);
    int looks_ = 0;
    int denials_ = 0;
  };
  Symbols symbols;
  std::ostringstream out;
  Inbox inbox;
  const auto cluster = std::make_shared<const ClusterSpec>(uniform_cluster(1, 1));
  SimBackend backend({cluster, make_perf({"ideal"}, symbols)});
  Recorder recorder(backend, inbox, symbols, out);
  const auto look = [](JobSource& source) {
    std::string seen;
    for (int i = 0; i < 4; ++i) seen += source.peek() != nullptr ? 'j' : '.';
    source.pop();
    for (int i = 0; i < 5; ++i) seen += source.finished() ? 'f' : '.';
    return seen;
  };
  const std::string live = look(recorder.source());
  EXPECT_EQ(live, "..jj...ff");
  recorder.finish();
  const auto recorded = read_recording(out.str(), symbols);
  ASSERT_TRUE(recorded);
  Replay replay(*recorded);
  EXPECT_EQ(look(replay.source()), live);
}

}  // namespace
}  // namespace muster
