#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/captured.h"
#include "support/temporary_folder.h"
#include "workload/trace_format.h"

namespace muster {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

Captured run(const std::string& line) { return captured(add_trace_command, "trace " + line); }

class TraceCommandTest : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  TemporaryFolder folder_;
  std::string good_ = folder_.write("good.csv",
                                    "job_id,submit_s,duration_s,gpus,user,partition\n"
                                    "a,0,3600,1,ann,p\nb,1800,7200,4,bob,p\nc,7200,3600,1,ann,q\n");
  std::string sick_ = folder_.write("sick.csv",
                                    "job_id,submit_s,duration_s,gpus\n"
                                    "a,10,60,1\nb,5,60,1\nc,20,-1,1\nd,x,1,1\ne,30,60,99\n");
};

TEST_F(TraceCommandTest, InfoForPeople) {
  const Captured ran = run("info " + good_ + " --cluster 2x4");
  EXPECT_EQ(ran.status, kExitOk) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("3 jobs in 3 records of the format muster"));
  EXPECT_THAT(ran.out, HasSubstr("10.0 GPU hours"));
  EXPECT_THAT(ran.out, HasSubstr("62.5 % on 2x4 (8 GPUs)"));
  EXPECT_THAT(ran.out, HasSubstr("ann"));
}

TEST_F(TraceCommandTest, InfoForScripts) {
  const Captured ran = run("info --json --cluster 2x4 " + good_);
  EXPECT_EQ(ran.status, kExitOk) << ran.err;
  const json parsed = json::parse(ran.out);
  EXPECT_EQ(parsed["jobs"], 3);
  EXPECT_EQ(parsed["span_s"], 7200);
  EXPECT_EQ(parsed["gpu_hours"], 10);
  EXPECT_EQ(parsed["load"], 0.625);
  EXPECT_EQ(parsed["duration"]["p50_s"], 3600);
  EXPECT_EQ(parsed["gpus"][1]["gpus"], 4);
  EXPECT_EQ(parsed["gpus"][1]["gpu_hours"], 8);
  EXPECT_EQ(parsed["users"][0]["name"], "bob");
  EXPECT_EQ(parsed["partitions"].size(), 2U);
  EXPECT_EQ(parsed["models"].size(), 0U);
  EXPECT_EQ(parsed["sorted"], true);
}

TEST_F(TraceCommandTest, BadLinesStopOrAreSkipped) {
  const Captured strict = run("info " + sick_);
  EXPECT_EQ(strict.status, kExitBadInput);
  EXPECT_THAT(strict.err, HasSubstr("sick.csv:4: found a duration of -1 s"));
  EXPECT_EQ(strict.out, "");
  const Captured skipping = run("info --skip-bad " + sick_);
  EXPECT_EQ(skipping.status, kExitOk);
  EXPECT_THAT(skipping.out, HasSubstr("3 jobs"));
  EXPECT_THAT(skipping.err, HasSubstr("line 5: column 2 (submit_s): found 'x'"));
}

TEST_F(TraceCommandTest, CheckFindsAndExitsAccordingly) {
  const Captured sick = run("check --cluster 2x4 " + sick_);
  EXPECT_EQ(sick.status, kExitFailed);
  for (const char* name : {"unreadable", "negative-duration", "larger-than-cluster", "unsorted"}) {
    EXPECT_THAT(sick.out, HasSubstr(name));
  }
  const Captured good = run("check " + good_);
  EXPECT_EQ(good.status, kExitOk);
  EXPECT_THAT(good.out, HasSubstr("nothing wrong"));
  const json parsed = json::parse(run("check --json " + sick_).out);
  EXPECT_EQ(parsed["healthy"], false);
  EXPECT_EQ(parsed["findings"][0]["severity"], "error");
  EXPECT_EQ(parsed["findings"][0]["examples"][0]["line"], 5);
}

TEST_F(TraceCommandTest, RepairWritesATraceThatIsHealthy) {
  const Captured ran = run("check " + sick_ + " --cluster 2x4 --repair " + path("mended.csv"));
  EXPECT_EQ(ran.status, kExitOk) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("wrote 2 jobs"));
  EXPECT_THAT(ran.err, HasSubstr("2 dropped, 0 changed, 1 unreadable lines left out, jobs sorted"));
  EXPECT_EQ(run("check --cluster 2x4 " + path("mended.csv")).status, kExitOk);
  const std::string hopeless =
      folder_.write("hopeless.csv", "job_id,submit_s,duration_s,gpus\na,0,-1,1\n");
  const Captured nothing = run("check " + hopeless + " --repair " + path("nothing.csv"));
  EXPECT_EQ(nothing.status, kExitFailed);
  EXPECT_FALSE(std::filesystem::exists(path("nothing.csv")));
}

TEST_F(TraceCommandTest, ConvertSaysWhatIsLost) {
  const Captured ran = run("convert " + good_ + " " + path("good.swf.gz") + " --to swf");
  EXPECT_EQ(ran.status, kExitOk) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("does not carry the job's own name"));
  EXPECT_THAT(run("info " + path("good.swf.gz")).out, HasSubstr("of the format swf"));
  const Captured there = run("convert " + good_ + " " + path("again.csv"));
  EXPECT_THAT(there.err, Not(HasSubstr("does not carry")));
  const Captured streamed = run("convert --stream " + good_ + " " + path("streamed.csv"));
  EXPECT_EQ(streamed.status, kExitOk) << streamed.err;
  EXPECT_EQ(folder_.read("again.csv"), folder_.read("streamed.csv"));
}

TEST_F(TraceCommandTest, ConvertOfABadTraceWritesNothing) {
  const Captured ran = run("convert --stream --skip-bad " + sick_ + " " + path("out.csv"));
  EXPECT_EQ(ran.status, kExitBadInput);
  EXPECT_THAT(ran.err, HasSubstr("not sorted"));
  EXPECT_FALSE(std::filesystem::exists(path("out.csv")));
  EXPECT_FALSE(std::filesystem::exists(path("out.csv.partial")));
  EXPECT_EQ(run("convert " + good_ + " " + path("x") + " --to excel").status, kExitBadInput);
}

TEST_F(TraceCommandTest, HeadShowsTheFirstJobs) {
  const Captured ran = run("head -n 2 " + good_);
  EXPECT_EQ(ran.status, kExitOk);
  EXPECT_THAT(ran.out, HasSubstr("1800 s"));
  EXPECT_THAT(ran.out, Not(HasSubstr("7200 s")));
  const json parsed = json::parse(run("head --json -n 2 " + good_).out);
  ASSERT_EQ(parsed.size(), 2U);
  EXPECT_EQ(parsed[1]["job_id"], "b");
  EXPECT_EQ(parsed[1]["line"], 3);
  EXPECT_FALSE(parsed[1].contains("deadline_s"));
}

TEST_F(TraceCommandTest, FormatsAreListedFromTheTable) {
  const Captured ran = run("formats");
  EXPECT_EQ(ran.status, kExitOk);
  for (const std::string_view name : trace_format_names())
    EXPECT_THAT(ran.out, HasSubstr(std::string(name)));
  EXPECT_THAT(ran.out, HasSubstr("--set last_ran=false"));
  EXPECT_EQ(json::parse(run("formats --json").out).size(), trace_formats().size());
}

TEST_F(TraceCommandTest, MistakesAreExplained) {
  EXPECT_THAT(run("info " + path("absent.csv")).err, HasSubstr("cannot open"));
  EXPECT_THAT(run("info --format phily " + good_).err, HasSubstr("no trace format 'phily'"));
  EXPECT_THAT(run("info --set x " + good_).err, HasSubstr("expected NAME=VALUE"));
  EXPECT_THAT(run("info --cluster 3xx " + good_).err, HasSubstr("legal forms"));
}

}  // namespace
}  // namespace muster
