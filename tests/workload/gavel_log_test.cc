#include "workload/gavel_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster {
namespace {

using ::testing::HasSubstr;

std::vector<JobSpec> three_jobs() {
  std::vector<JobSpec> jobs(4);
  const double submits[] = {0, 0, 10, 500};
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    jobs[i].submit = jobs[i].arrival = submits[i];
    jobs[i].iterations = 1000;
    jobs[i].duration = 2000;
    jobs[i].gpus = i == 1 ? 2 : 1;
  }
  jobs[3].deadline = 700;
  return jobs;
}

// Written after the messages of Gavel's scheduler.
constexpr std::string_view kLog =
    "[2020-08-01 12:00:00.000000] [scheduler] *** START ROUND 0 ***\n"
    "a line of another program\n"
    "[2020-08-01 12:01:00.500000] [scheduler] Job 0 has 400 remaining steps\n"
    "[2020-08-01 12:02:00.000000] Received lease update request: job_id=0, worker_id=1, steps=50, "
    "duration=3.5\n"
    "[2020-08-01 12:02:00.000000] Received lease update request: job_id=1, worker_id=0, steps=100, "
    "duration=3.5\n"
    "[2020-08-01 12:02:00.000000] Received lease update request: job_id=1, worker_id=2, steps=110, "
    "duration=3.5\n"
    "rpc.scheduler_server:DEBUG Received lease update request: job_id=1, worker_id=0, steps=120, "
    "duration=4.50, max_steps=500, max_duration=9.00\n"
    "[2020-08-01 12:03:00.000000] [Job succeeded]\tJob ID: 2\n"
    "[2020-08-01 12:05:00.000000] end\n";

TEST(GavelLog, TellsWhatIsLeft) {
  const auto log = GavelLog::parse(kLog, "log");
  ASSERT_TRUE(log) << log.error().message;
  EXPECT_EQ(log->elapsed(), 300);
  const auto left = log->remaining(three_jobs());
  ASSERT_TRUE(left) << left.error().message;
  ASSERT_EQ(left->size(), 3U) << "one is over";
  EXPECT_EQ((*left)[0].iterations, 350) << "what was left, less what is under way";
  EXPECT_EQ((*left)[0].duration, 700);
  EXPECT_EQ((*left)[1].iterations, 1000 - 120 - 110) << "two workers, each as last reported";
  EXPECT_EQ((*left)[1].submit, 0);
  EXPECT_EQ((*left)[2].iterations, 1000) << "it has not come yet";
  EXPECT_EQ((*left)[2].submit, 200);
  EXPECT_EQ((*left)[2].deadline, 400);
}

// A micro-task that ended says how much is left, whatever was under way before.
TEST(GavelLog, MicroTasksReplaceWhatWasUnderWay) {
  const auto log = GavelLog::parse(
      "[2020-08-01 12:00:00.0] Received lease update request: job_id=0, worker_id=0, steps=70\n"
      "[2020-08-01 12:00:10.0] Job 0 has 900 remaining steps\n"
      "[2020-08-01 12:00:20.0] Received lease update request: job_id=0, worker_id=0, steps=30\n"
      "[2020-08-01 12:00:30.0] [Job failed]\tJob ID: 1\n",
      "log");
  ASSERT_TRUE(log);
  const auto left = log->remaining(three_jobs());
  ASSERT_TRUE(left);
  ASSERT_EQ(left->size(), 3U);
  EXPECT_EQ((*left)[0].iterations, 870);
}

TEST(GavelLog, SaysWhatIsWrong) {
  EXPECT_THAT(GavelLog::parse("nothing", "x.log").error().message,
              HasSubstr("x.log: not a log of Gavel's scheduler"));
  EXPECT_THAT(GavelLog::load("nowhere.log").error().message, HasSubstr("nowhere.log"));
  const auto other =
      GavelLog::parse("[2020-08-01 12:00:00.0] Job 7 has 4 remaining steps\n", "log");
  ASSERT_TRUE(other);
  EXPECT_THAT(other->remaining(three_jobs()).error().message, HasSubstr("the trace has 4 jobs"));
  // Lines that are cut off, or say nothing.
  const auto odd = GavelLog::parse(
      "[2020-08-01 12:00:00.0] Job x has 4 remaining steps\n"
      "[2020-08-01 12:00:00.0] Received lease update request: job_id=1, worker_id=0, st\n"
      "[2020-08-01 12:00:00.0] [Job succeeded]\n[",
      "log");
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->remaining(three_jobs())->size(), 4U);
}

}  // namespace
}  // namespace muster
