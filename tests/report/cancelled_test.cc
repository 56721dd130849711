// A job that a person cancelled neither finished nor failed: in the figures, in the files and in
// its story.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/explain.h"
#include "report/metrics.h"
#include "report/result_folder.h"
#include "support/temporary_folder.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

// Job 0 finishes after 100 s; job 1 runs from 20 s on, until it is cancelled at 60 s.
void tell(Observer& out) {
  const auto decide = [&](Seconds time, std::uint32_t job, Action action, Reason reason) {
    const Decision decision{time, JobId{job}, kNoJob, 1, 0, action, reason};
    out.on_decision(decision);
    if (action != Action::kStart) return;
    GpuSet gpus;
    gpus.add(NodeId{0}, 1U << job);
    out.on_placement(decision, gpus);
  };
  const auto leave = [&](std::uint32_t id, Seconds submit, Seconds start, Seconds end,
                         JobState status, Reason reason) {
    JobRecord job;
    job.id = JobId{id};
    job.submit = job.arrival = submit;
    job.start = start;
    job.end = end;
    job.queue = start - submit;
    job.duration = job.gpu_seconds = end - start;
    job.gpus = 1;
    job.status = status;
    job.reason = reason;
    out.on_job_end(job);
  };
  decide(0, 0, Action::kSubmit, Reason::kArrived);
  decide(0, 0, Action::kAdmit, Reason::kAccepted);
  decide(0, 0, Action::kStart, Reason::kFirstInOrder);
  decide(10, 1, Action::kSubmit, Reason::kArrived);
  decide(10, 1, Action::kAdmit, Reason::kAccepted);
  decide(20, 1, Action::kStart, Reason::kFirstInOrder);
  decide(60, 1, Action::kCancel, Reason::kCancelled);
  leave(1, 10, 20, 60, JobState::kCancelled, Reason::kCancelled);
  decide(100, 0, Action::kFinish, Reason::kCompleted);
  leave(0, 0, 0, 100, JobState::kFinished, Reason::kCompleted);
}

TEST(Cancelled, IsAFigureOfItsOwn) {
  Symbols symbols;
  MetricsFold fold(symbols);
  tell(fold);
  const Metrics metrics = fold.summary().metrics;
  EXPECT_EQ(metrics.jobs, 2);
  EXPECT_EQ(metrics.cancelled, 1);
  EXPECT_EQ(metrics.finished, 1);
  EXPECT_EQ(metrics.failed, 0);
  EXPECT_EQ(metrics.refused, 0);
  EXPECT_EQ(metrics.unfinished, 0);
  EXPECT_EQ(metrics.avg_jct_s, 100) << "it did not complete";
}

TEST(Cancelled, IsToldAsThatInTheStory) {
  TemporaryFolder folder;
  Symbols symbols;
  auto writer = ResultWriter::open({.folder = folder.path() / "run"}, symbols);
  ASSERT_TRUE(writer) << writer.error().message;
  tell(**writer);
  ASSERT_TRUE((*writer)->finish({}));
  const auto story = explain_job(*ResultFolder::open(folder.path() / "run"), "#1");
  ASSERT_TRUE(story) << story.error().message;
  EXPECT_EQ(story->job.status, JobState::kCancelled);
  const std::string text = story_text(*story, {});
  EXPECT_THAT(text, HasSubstr("asked for 1 GPU and was cancelled after 50 s: 10 s waiting, 40 s "
                              "running."));
  EXPECT_THAT(text, HasSubstr("cancelled: a person cancelled it"));
}

}  // namespace
}  // namespace muster
