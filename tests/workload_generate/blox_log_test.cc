#include "workload/generate/blox_log.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/paths.h"

namespace muster {
namespace {

std::string attempt(std::string_view start, std::string_view end, int gpus) {
  std::string list;
  for (int i = 0; i < gpus; ++i) list += i == 0 ? R"("g0")" : R"(,"g")";
  return fmt::format(
      R"({{"start_time": {}, "end_time": {}, "detail": [{{"ip": "m", "gpus": [{}]}}]}})", start,
      end, list);
}

std::string job(std::string_view attempts) {
  return fmt::format(
      R"({{"status": "Pass", "vc": "v", "jobid": "j", "submitted_time": "2017-10-01 11:00:00",
          "attempts": [{}], "user": "u"}})",
      attempts);
}

const std::string kNoon = R"("2017-10-01 12:00:00")";
const std::string kThree = R"("2017-10-01 15:00:00")";
const std::string kNextDay = R"("2017-10-02 12:00:00")";

std::vector<BloxLogJob> parsed(const std::string& text, bool multi_gpu) {
  const auto jobs = parse_blox_log(text, "log.json", multi_gpu);
  EXPECT_TRUE(jobs) << jobs.error().message;
  return jobs ? *jobs : std::vector<BloxLogJob>{};
}

TEST(BloxLog, SumsAttemptsAndKeepsTheLastGpuCount) {
  const std::string text =
      "[" + job(attempt(kNoon, kThree, 2) + "," + attempt(kThree, kNextDay, 4)) + "]";
  const auto multi = parsed(text, true);
  ASSERT_EQ(multi.size(), 1U);
  EXPECT_EQ(multi[0].gpus, 4);
  EXPECT_EQ(multi[0].duration, 86400);
  EXPECT_EQ(parsed(text, false).at(0).gpus, 1);
}

TEST(BloxLog, IgnoresAttemptsThatDoNotCount) {
  const std::string good = attempt(kNoon, kThree, 1);
  EXPECT_EQ(
      parsed("[" + job(attempt(R"("None")", kThree, 1) + "," + good) + "]", false).at(0).duration,
      10800);
  EXPECT_EQ(parsed("[" + job(attempt(kNoon, "null", 1) + "," + good) + "]", false).size(), 1U);
  EXPECT_EQ(parsed("[" + job(attempt(kThree, kNoon, 1) + "," + good) + "]", false).size(), 1U);
  EXPECT_EQ(parsed("[" + job(attempt(kNoon, kThree, 0) + "," + good) + "]", false).size(), 1U);
}

TEST(BloxLog, DropsAJobWhoseLastAttemptDoesNotCount) {
  const std::string good = attempt(kNoon, kThree, 1);
  EXPECT_TRUE(parsed("[" + job(good + "," + attempt(R"("None")", kThree, 1)) + "]", false).empty());
  EXPECT_TRUE(parsed("[" + job(good + "," + attempt(kNoon, kThree, 17)) + "]", true).empty());
  EXPECT_EQ(parsed("[" + job(good + "," + attempt(kNoon, kThree, 17)) + "]", false).size(), 1U);
  EXPECT_TRUE(parsed("[" + job("") + "]", false).empty());
}

TEST(BloxLog, KeepsDurationsStrictlyBetweenItsLimits) {
  const auto lasting = [](std::string_view end) { return "[" + job(attempt(kNoon, end, 1)) + "]"; };
  EXPECT_TRUE(parsed(lasting(R"("2017-10-01 12:31:37")"), false).empty());   // 1897 s
  EXPECT_EQ(parsed(lasting(R"("2017-10-01 12:31:38")"), false).size(), 1U);  // 1898 s
  EXPECT_EQ(parsed(lasting(R"("2017-10-08 10:39:59")"), false).size(), 1U);  // 599999 s
  EXPECT_TRUE(parsed(lasting(R"("2017-10-08 10:40:00")"), false).empty());   // 600000 s
}

TEST(BloxLog, CountsDaysAcrossMonthsAndLeapYears) {
  const std::string text =
      "[" + job(attempt(R"("2016-02-28 00:00:00")", R"("2016-03-01 00:00:00")", 1)) + "," +
      job(attempt(R"("2017-12-31 00:00:00")", R"("2018-01-02 00:00:01")", 1)) + "]";
  const auto jobs = parsed(text, false);
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_EQ(jobs[0].duration, 172800);
  EXPECT_EQ(jobs[1].duration, 172801);
}

void expect_error(const std::string& text, std::string_view part) {
  const auto jobs = parse_blox_log(text, "log.json", false);
  ASSERT_FALSE(jobs) << text;
  EXPECT_NE(jobs.error().message.find(part), std::string::npos) << jobs.error().message;
  EXPECT_NE(jobs.error().message.find("log.json"), std::string::npos) << jobs.error().message;
}

TEST(BloxLog, SaysWhatIsWrongAndWhere) {
  expect_error("[1]", "line 1");
  expect_error(R"([{"status": "Pass"}])", "jobid");
  expect_error(R"([{"jobid": "j", "submitted_time": "2017-10-01 11:00:00"}])", "attempts");
  expect_error("[" + job(attempt(R"("yesterday")", kThree, 1)) + "]", "'yesterday'");
  expect_error("[" + job(attempt(R"("2017-13-01 00:00:00")", kThree, 1)) + "]", "2017-13-01");
  expect_error("[" + job(attempt("17", kThree, 1)) + "]", "start_time");
  expect_error("[" + job("") + ",\n\n" + job(attempt(kNoon, "1", 1)) + "]", "log.json:4");
  EXPECT_FALSE(read_blox_log("no/such/file", false));
}

TEST(BloxLog, ReadsTheGoldenLog) {
  MUSTER_NEEDS_SHARED("golden/blox/runs/fake_cluster_job_log.json");
  const auto path = (shared_dir() / "golden/blox/runs/fake_cluster_job_log.json").string();
  const auto jobs = read_blox_log(path, true);
  ASSERT_TRUE(jobs) << jobs.error().message;
  EXPECT_EQ(jobs->size(), 1000U);
}

}  // namespace
}  // namespace muster
