#include "report/explain.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "fake_run.h"
#include "report/result_folder.h"
#include "support/temporary_folder.h"

namespace muster {
namespace {

using ::testing::HasSubstr;
using Kind = StoryLine::Kind;

GpuSet on_node(std::uint32_t node, std::uint64_t mask) {
  GpuSet gpus;
  gpus.add(NodeId{node}, mask);
  return gpus;
}

JobRecord record(std::uint32_t id, const std::string& name, Seconds submit, Seconds start,
                 Seconds end, int gpus) {
  JobRecord job;
  job.id = JobId{id};
  job.name = name;
  job.submit = job.arrival = submit;
  job.start = start;
  job.end = end;
  job.gpus = gpus;
  return job;
}

// A cluster of 8 GPUs; "small" is held, waits behind "big", runs, loses its GPUs to "urgent" and
// finishes.
class Explained : public ::testing::Test {
 protected:
  // Long: the story from its beginning to its end.
  void SetUp() override {
    Symbols symbols;
    auto writer = ResultWriter::open({.folder = path()}, symbols);
    ASSERT_TRUE(writer) << writer.error().message;
    Observer& out = **writer;
    const auto tell = [&](Seconds time, std::uint32_t job, Action action, Reason reason, int gpus,
                          JobId other = kNoJob, int detail = 0) {
      const Decision decision{time, JobId{job}, other, gpus, detail, action, reason};
      out.on_decision(decision);
      return decision;
    };
    tell(0, 0, Action::kSubmit, Reason::kArrived, 6);
    tell(0, 0, Action::kAdmit, Reason::kAccepted, 6);
    out.on_placement(tell(0, 0, Action::kStart, Reason::kFirstInOrder, 6), on_node(0, 0x3F));
    tell(10, 1, Action::kSubmit, Reason::kArrived, 8);
    tell(10, 1, Action::kAdmit, Reason::kAccepted, 8);
    tell(10, 1, Action::kBlock, Reason::kNotEnoughFree, 8, kNoJob, 2);
    tell(20, 2, Action::kSubmit, Reason::kArrived, 4);
    tell(20, 2, Action::kHold, Reason::kLoadLimit, 4);
    tell(30, 2, Action::kHold, Reason::kLoadLimit, 4);
    tell(50, 2, Action::kAdmit, Reason::kAccepted, 4);
    tell(60, 3, Action::kSubmit, Reason::kArrived, 1);
    tell(60, 3, Action::kAdmit, Reason::kAccepted, 1);
    out.on_placement(tell(60, 3, Action::kStart, Reason::kBackfilled, 1), on_node(0, 0x40));
    tell(60, 1, Action::kBlock, Reason::kNotEnoughFree, 8, kNoJob, 1);
    tell(100, 0, Action::kFinish, Reason::kCompleted, 6);
    out.on_job_end(record(0, "first", 0, 0, 100, 6));
    tell(100, 3, Action::kFinish, Reason::kCompleted, 1);
    out.on_job_end(record(3, "", 60, 60, 100, 1));
    out.on_placement(tell(100, 1, Action::kStart, Reason::kFirstInOrder, 8), on_node(0, 0xFF));
    tell(100, 2, Action::kBlock, Reason::kNotEnoughFree, 4, kNoJob, 0);
    tell(160, 1, Action::kFinish, Reason::kCompleted, 8);
    out.on_job_end(record(1, "big", 10, 100, 160, 8));
    out.on_placement(tell(160, 2, Action::kStart, Reason::kFirstInOrder, 4), on_node(0, 0x0F));
    tell(200, 4, Action::kSubmit, Reason::kArrived, 8);
    tell(200, 4, Action::kAdmit, Reason::kAccepted, 8);
    tell(200, 2, Action::kStop, Reason::kOutranked, 4, JobId{4});
    out.on_placement(tell(200, 4, Action::kStart, Reason::kFirstInOrder, 8), on_node(0, 0xFF));
    tell(260, 4, Action::kFinish, Reason::kCompleted, 8);
    out.on_job_end(record(4, "urgent", 200, 200, 260, 8));
    GpuSet two = on_node(0, 0x3);
    two.add(NodeId{1}, 0x3);
    out.on_placement(tell(260, 2, Action::kStart, Reason::kFirstInOrder, 4), two);
    tell(300, 2, Action::kFinish, Reason::kCompleted, 4);
    JobRecord small = record(2, "small", 20, 160, 300, 4);
    small.queue = 200;
    small.preemptions = 1;
    small.user = symbols.intern("ada");
    out.on_job_end(small);
    tell(310, 5, Action::kSubmit, Reason::kArrived, 99);
    tell(310, 5, Action::kRefuse, Reason::kNeverFits, 99);
    JobRecord refused = record(5, "huge", 310, kNever, 310, 99);
    refused.status = JobState::kRefused;
    refused.reason = Reason::kNeverFits;
    out.on_job_end(refused);
    tell(320, 6, Action::kSubmit, Reason::kArrived, 1);
    tell(320, 6, Action::kAdmit, Reason::kAccepted, 1);
    tell(400, 7, Action::kSubmit, Reason::kArrived, 1);
    ASSERT_TRUE((*writer)->finish({}));
  }

  std::filesystem::path path() const { return folder_.path() / "run"; }
  Result<Story> story(std::string_view job) const {
    return explain_job(*ResultFolder::open(path()), job);
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(Explained, SplitsALifeIntoItsStretches) {
  const auto found = story("small");
  ASSERT_TRUE(found) << found.error().message;
  struct Expected {
    Kind kind;
    Seconds from;
    Seconds to;
  };
  const std::vector<Expected> expected = {
      {Kind::kEvent, 20, 20},          // submitted
      {Kind::kEvent, 20, 20},          // held
      {Kind::kHeld, 20, 50},           //
      {Kind::kEvent, 50, 50},          // admitted
      {Kind::kBehind, 50, 100},        // behind big
      {Kind::kFirstInLine, 100, 160},  //
      {Kind::kEvent, 160, 160},        // starts
      {Kind::kRuns, 160, 200},         //
      {Kind::kEvent, 200, 200},        // loses its GPUs
      {Kind::kOutranked, 200, 260},    //
      {Kind::kEvent, 260, 260},        // starts
      {Kind::kRuns, 260, 300},         //
      {Kind::kEvent, 300, 300},        // finished
  };
  ASSERT_EQ(found->lines.size(), expected.size()) << story_text(*found, {}, 0);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(found->lines[i].kind, expected[i].kind) << i;
    EXPECT_EQ(found->lines[i].from, expected[i].from) << i;
    EXPECT_EQ(found->lines[i].to, expected[i].to) << i;
  }
  EXPECT_EQ(found->waited, 200);
  EXPECT_EQ(found->ran, 80);
  EXPECT_EQ(found->lines[4].other, JobId{1});
  EXPECT_EQ(found->lines[4].least_free, 1);
  EXPECT_EQ(found->lines[4].most_free, 2);
  EXPECT_EQ(found->started_meanwhile, 3U);
  EXPECT_EQ(found->started_later_ones, 2U);
}

TEST_F(Explained, TellsItInWords) {
  EXPECT_EQ(
      story_text(*story("small"), {}),
      R"(Job small (#2) asked for 4 GPUs and finished 4 min 40 s after it was submitted: 3 min 20 s waiting, 1 min 20 s running.
user ada

at        for    what happened
────────  ─────  ───────────────────────────────────────────────────────────────────────────────
00:00:20         submitted, asking for 4 GPUs
00:00:20  30 s   held by admission: the load of the cluster is above the admission threshold
00:00:50         admitted to the queue
00:00:50  50 s   waits behind job big, which needs 8 GPUs while 1 to 2 are free
00:01:40  1 min  first in line: needs 4 GPUs while 0 are free
00:02:40  40 s   starts with 4 GPUs on node 0: it is next in the policy's order, and it fits
00:03:20         loses its GPUs to job urgent: another job comes before it in the policy's order
00:03:20  1 min  waits: the jobs before it take all free GPUs
00:04:20  40 s   starts with 4 GPUs on nodes 0-1: it is next in the policy's order, and it fits
00:05:00         finished: all its work is done

why it waited                                                                       for     share
──────────────────────────────────────────────────────────────────────────────────  ─────  ──────
first in line: fewer GPUs are free than it needs                                    1 min  30.0 %
the jobs before it took all free GPUs                                               1 min  30.0 %
behind the first in line, which could not start: fewer GPUs are free than it needs  50 s   25.0 %
held by admission: the load of the cluster is above the admission threshold         30 s   15.0 %

While it waited, other jobs were started 3 times; 2 of those jobs had arrived later.
)");
}

TEST_F(Explained, FindsJobsByNameAndNumber) {
  EXPECT_EQ(story("#2")->id, JobId{2});
  EXPECT_EQ(story("2")->id, JobId{2});
  EXPECT_EQ(story("big")->id, JobId{1});
  EXPECT_THAT(story("smal").error().message, HasSubstr("names like it: small"));
  EXPECT_THAT(story("nobody").error().message, HasSubstr("lists those that waited longest"));
  EXPECT_THAT(story("#small").error().message, HasSubstr("no job '#small'"));
  EXPECT_THAT(story("77").error().message, HasSubstr("no job with the number 77"));
  EXPECT_THAT(story("-1").error().message, HasSubstr("no job '-1'"));
  EXPECT_THAT(story("").error().message, HasSubstr("no job ''"));
}

TEST_F(Explained, TellsOfRefusalAndOfJobsThatNeverLeft) {
  EXPECT_THAT(story_text(*story("huge"), {}), HasSubstr("was refused: it asks for more than"));
  const auto left_over = story("6");
  ASSERT_TRUE(left_over);
  EXPECT_FALSE(left_over->left);
  EXPECT_EQ(left_over->waited, 80);
  EXPECT_THAT(story_text(*left_over, {}), HasSubstr("had not finished when the run stopped"));
}

TEST_F(Explained, GivesProgramsTheSame) {
  const auto json = nlohmann::json::parse(story_json(*story("small")));
  EXPECT_EQ(json["job"]["id"], 2);
  EXPECT_EQ(json["waited_s"], 200);
  EXPECT_EQ(json["story"].size(), 13U);
  EXPECT_EQ(json["story"][4]["kind"], "behind");
  EXPECT_EQ(json["story"][4]["other"], 1);
  EXPECT_EQ(json["story"][10]["nodes"], (std::vector<int>{0, 1}));
  double sum = 0;
  for (const auto& wait : json["waits"]) sum += wait["seconds"].get<double>();
  EXPECT_EQ(sum, 200);
}

// Every job of a whole run: what it waited and ran must add up to its life, and agree with
// jobs.csv.
TEST(Explain, AddsUpForEveryJob) {
  for (const bool shortest_first : {false, true}) {
    TemporaryFolder folder;
    Symbols symbols;
    auto writer = ResultWriter::open({.folder = folder.path() / "run"}, symbols);
    ASSERT_TRUE(writer);
    const auto jobs =
        play({.jobs = 150, .mean_gap = 40, .shortest_first = shortest_first, .refuse_every = 40},
             symbols, **writer);
    ASSERT_TRUE((*writer)->finish({}));
    const auto result = ResultFolder::open(folder.path() / "run");
    ASSERT_TRUE(result);
    for (const JobRecord& job : jobs) {
      const auto story = explain_job(*result, "#" + std::to_string(index(job.id)));
      ASSERT_TRUE(story) << story.error().message;
      EXPECT_NEAR(story->waited, job.queue, 1e-6) << index(job.id);
      if (job.status != JobState::kFinished) continue;
      EXPECT_NEAR(story->waited + story->ran, job.completion_time(), 1e-6) << index(job.id);
      Seconds clock = job.submit;
      for (const StoryLine& line : story->lines) {
        EXPECT_EQ(line.from, clock) << index(job.id);
        clock = line.to;
      }
      EXPECT_EQ(clock, job.end);
    }
  }
}

TEST(Explain, DrawsLongWaitsTogether) {
  Story story;
  story.left = true;
  story.job = record(500, "late", 0, 5000, 6000, 1);
  story.id = JobId{500};
  for (int i = 0; i < 200; ++i) {
    StoryLine line;
    line.kind = Kind::kBehind;
    line.from = i * 25;
    line.to = line.from + 25;
    line.other = JobId{static_cast<std::uint32_t>(i)};
    line.gpus = 4;
    line.reason = Reason::kNotEnoughFree;
    story.lines.push_back(line);
  }
  const std::string text = story_text(story, {}, 20);
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 30);
  EXPECT_THAT(text, HasSubstr("jobs in turn"));
  const std::string all = story_text(story, {}, 0);
  EXPECT_GT(std::count(all.begin(), all.end(), '\n'), 200);
}

TEST(Explain, NeedsDecisions) {
  TemporaryFolder folder;
  Symbols symbols;
  auto writer = ResultWriter::open({.folder = folder.path() / "run", .decisions = false}, symbols);
  ASSERT_TRUE(writer);
  play({.jobs = 5}, symbols, **writer);
  ASSERT_TRUE((*writer)->finish({}));
  const auto story = explain_job(*ResultFolder::open(folder.path() / "run"), "1");
  ASSERT_FALSE(story);
  EXPECT_THAT(story.error().message, HasSubstr("without recording its decisions"));
}

}  // namespace
}  // namespace muster
