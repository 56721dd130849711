#include "workload/trace_reader.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kPhilly =
    "timestamp,duration,num_gpus,gpu_time,cluster\n"
    "2017-10-09 07:01:55,66.0,1,66.0,aaa\n"
    "2017-10-09 06:01:55,30.5,4,122.0,bbb\n"
    "2017-10-09 07:01:55,10.0,2,20.0,aaa\n\n";

constexpr const char* kNative =
    "gpus,job_id,duration_s,submit_s,deadline_s,model,user\n"
    "1,first,60,0,,resnet,ann\n"
    "8,\"second, with comma\",120.25,5,500,,\n";

class TraceReaderTest : public ::testing::Test {
 protected:
  std::string file(const std::string& content) { return folder_.write("trace", content); }
  std::string load_error(const std::string& content, const TraceOptions& options = {}) {
    const auto trace = load_trace(file(content), options, symbols_);
    return trace ? "it was read" : trace.error().message;
  }

  TemporaryFolder folder_;
  Symbols symbols_;
};

TEST_F(TraceReaderTest, LoadsSortedAndRebased) {
  const auto trace = load_trace(file(kPhilly), {}, symbols_);
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->stats.format, "philly-csv");
  EXPECT_EQ(trace->stats.records, 3U);
  EXPECT_FALSE(trace->was_sorted);
  EXPECT_EQ(trace->origin, 1507528915);
  ASSERT_EQ(trace->jobs.size(), 3U);
  EXPECT_EQ(trace->jobs[0].submit, 0);
  EXPECT_EQ(trace->jobs[0].duration, 30.5);
  EXPECT_EQ(trace->jobs[0].gpus, 4);
  EXPECT_EQ(symbols_.text(trace->jobs[0].partition), "bbb");
  // Equal times stay in the order of the file.
  EXPECT_EQ(trace->jobs[1].submit, 3600);
  EXPECT_EQ(trace->jobs[1].duration, 66);
  EXPECT_EQ(trace->jobs[2].duration, 10);
  EXPECT_EQ(trace->jobs[2].arrival, 3600);
  EXPECT_EQ(trace->jobs[2].deadline, kNever);
}

TEST_F(TraceReaderTest, KeepsTimesWhenAsked) {
  TraceOptions options;
  options.rebase = Rebase::kNo;
  const auto trace = load_trace(file(kPhilly), options, symbols_);
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->jobs[0].submit, 1507528915);
}

TEST_F(TraceReaderTest, ReadsNativeColumnsInAnyOrder) {
  const auto trace = load_trace(file(kNative), {}, symbols_);
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->stats.format, "muster");
  ASSERT_EQ(trace->jobs.size(), 2U);
  EXPECT_EQ(trace->jobs[0].name, "first");
  EXPECT_EQ(symbols_.text(trace->jobs[0].model), "resnet");
  EXPECT_EQ(trace->jobs[0].deadline, kNever);
  EXPECT_EQ(trace->jobs[1].name, "second, with comma");
  EXPECT_EQ(trace->jobs[1].duration, 120.25);
  EXPECT_EQ(trace->jobs[1].deadline, 500);
  EXPECT_EQ(trace->jobs[1].user, kNoSymbol);
}

TEST_F(TraceReaderTest, RebaseMovesDeadlines) {
  TraceOptions options;
  options.rebase = Rebase::kYes;
  const auto trace =
      load_trace(file("job_id,submit_s,duration_s,gpus,deadline_s\na,100,1,1,130\nb,110,1,1,\n"),
                 options, symbols_);
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->jobs[0].submit, 0);
  EXPECT_EQ(trace->jobs[0].deadline, 30);
  EXPECT_EQ(trace->jobs[1].submit, 10);
  EXPECT_EQ(trace->jobs[1].deadline, kNever);
}

TEST_F(TraceReaderTest, StreamsASortedTrace) {
  auto source = open_trace(file(kNative), {}, symbols_);
  ASSERT_TRUE(source) << source.error().message;
  std::vector<std::string> names;
  for (; (*source)->peek() != nullptr; (*source)->pop()) names.push_back((*source)->peek()->name);
  EXPECT_THAT(names, ElementsAre("first", "second, with comma"));
  EXPECT_TRUE((*source)->finished());
  EXPECT_FALSE((*source)->error());
}

TEST_F(TraceReaderTest, StreamingAnUnsortedTraceNamesTheLine) {
  const std::string path = file(kPhilly);
  auto source = open_trace(path, {}, symbols_);
  ASSERT_TRUE(source) << source.error().message;
  (*source)->pop();
  EXPECT_EQ((*source)->peek(), nullptr);
  ASSERT_TRUE((*source)->error());
  EXPECT_THAT((*source)->error()->message,
              HasSubstr(path + ":3: found a job submitted at 1507528915 s"));
  EXPECT_THAT((*source)->error()->message, HasSubstr("not sorted"));
}

TEST_F(TraceReaderTest, BadCellNamesFileLineColumnFoundAndExpected) {
  const std::string message = load_error(
      "timestamp,duration,num_gpus\n2017-10-09 07:01:55,5,1\n2017-10-09 07:01:56,6,two\n");
  EXPECT_THAT(
      message,
      HasSubstr("trace:3: column 3 (num_gpus): found 'two', expected a whole number of GPUs"));
}

TEST_F(TraceReaderTest, RefusesWhatMakesNoSense) {
  const std::string header = "job_id,submit_s,duration_s,gpus\n";
  EXPECT_THAT(load_error(header + "a,0,-5,1\n"), HasSubstr(":2: found a duration of -5 s"));
  EXPECT_THAT(load_error(header + "a,nan,5,1\n"), HasSubstr("submit nan"));
  EXPECT_THAT(load_error(header + "a,0,inf,1\n"), HasSubstr("duration inf"));
  EXPECT_THAT(load_error(header + "a,0,1e300,1\n"), HasSubstr("below 10^12"));
  EXPECT_THAT(load_error(header + "a,0,1e999,1\n"),
              HasSubstr("column 3 (duration_s): found '1e999'"));
  EXPECT_THAT(load_error(header + "a,0,5,0\n"), HasSubstr("found 0 GPUs"));
  const std::string due = "job_id,submit_s,duration_s,gpus,deadline_s,value,later\n";
  EXPECT_THAT(load_error(due + "a,100,5,1,99,,\n"),
              HasSubstr(":2: found the deadline 99 s, expected it after the submission at 100 s"));
  EXPECT_THAT(load_error(due + "a,0,5,1,99,high,\n"), HasSubstr("column 6 (value): found 'high'"));
  EXPECT_THAT(load_error(due + "a,0,5,1,99,,200:5;150:3\n"),
              HasSubstr("column 7 (later): found '200:5;150:3', expected TIME:VALUE"));
  EXPECT_THAT(load_error(due + "a,0,5,1,99,,99:5\n"),
              HasSubstr("expected times after the deadline"));
  EXPECT_THAT(load_error(due + "a,0,5,1,,,99:5\n"), HasSubstr("the job has no deadline"));
  EXPECT_THAT(load_error(header + "a,0,5,-1\n"), HasSubstr("found -1 GPUs"));
  EXPECT_THAT(load_error(header + "a,0,5,99999999999\n"),
              HasSubstr("expected a whole number of GPUs"));
  EXPECT_THAT(load_error(header + "a,0,5,1.5\n"), HasSubstr("expected a whole number of GPUs"));
  EXPECT_THAT(load_error(header + "a,-3,5,1\n"), HasSubstr("submitted at -3 s"));
  EXPECT_THAT(load_error(header + "a,,5,1\n"), HasSubstr("column 2 (submit_s): found nothing"));
  EXPECT_THAT(load_error(header + "a,0,5\n"), HasSubstr("found '3 columns', expected 4"));
  EXPECT_THAT(load_error(header + "a,0,5,1,9\n"), HasSubstr("found '5 columns', expected 4"));
}

TEST_F(TraceReaderTest, SkipBadCountsAndKeepsExamples) {
  TraceOptions options;
  options.skip_bad = true;
  options.examples = 2;
  const auto trace = load_trace(
      file("job_id,submit_s,duration_s,gpus\na,0,x,1\nb,1,5,1\nc,,5,1\nd,3,-1,1\ne,4,5,2\n"),
      options, symbols_);
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->jobs.size(), 2U);
  EXPECT_EQ(trace->stats.bad, 3U);
  EXPECT_EQ(trace->stats.missing, 1U);
  ASSERT_EQ(trace->stats.bad_examples.size(), 2U);
  EXPECT_EQ(trace->stats.bad_examples[0].line, 2U);
  EXPECT_EQ(trace->stats.bad_examples[1].line, 4U);
}

TEST_F(TraceReaderTest, EmptyTracesAreErrors) {
  EXPECT_THAT(load_error(""), HasSubstr("the file is empty"));
  EXPECT_THAT(load_error("\n \n"), HasSubstr("the file is empty"));
  EXPECT_THAT(load_error("job_id,submit_s,duration_s,gpus\n"), HasSubstr("no jobs in this trace"));
  const auto source = open_trace(file("job_id,submit_s,duration_s,gpus\n"), {}, symbols_);
  ASSERT_FALSE(source);
  EXPECT_THAT(source.error().message, HasSubstr("no jobs"));
}

TEST_F(TraceReaderTest, UnknownFormatsAndFilesAreErrors) {
  EXPECT_THAT(load_error("apples,pears\n1,2\n"), HasSubstr("it begins with 'apples,pears'"));
  EXPECT_THAT(load_error("{\n \"meta\": {\"Slurm\": {\"release\": \"22.05.8\"}}, \"jobs\": []}\n"),
              HasSubstr("write its accounts with `sacct --parsable2"));
  TraceOptions options;
  options.format = "phily-csv";
  EXPECT_THAT(load_error(kPhilly, options), HasSubstr("did you mean 'philly-csv'?"));
  options.format = "philly-csv";
  EXPECT_THAT(load_error(kNative, options),
              HasSubstr("lacks the columns timestamp, duration, num_gpus"));
  options.format = "";
  options.settings["colour"] = "red";
  EXPECT_THAT(load_error(kPhilly, options), HasSubstr("no parameters"));
  const auto missing = load_trace((folder_.path() / "absent").string(), {}, symbols_);
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("cannot open"));
  const auto folder = load_trace(folder_.path().string(), {}, symbols_);
  ASSERT_FALSE(folder);
  EXPECT_THAT(folder.error().message, HasSubstr("is a folder"));
}

TEST_F(TraceReaderTest, NotesUnknownNativeColumns) {
  const auto trace =
      load_trace(file("job_id,submit_s,duration_s,gpus,colour\na,0,1,1,red\n"), {}, symbols_);
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_THAT(trace->stats.notes, ElementsAre(HasSubstr("colour")));
}

TEST_F(TraceReaderTest, AcceptsWindowsLinesAndByteOrderMarks) {
  const auto trace =
      load_trace(file("\xef\xbb\xbfjob_id,submit_s,duration_s,gpus\r\na,0,1,1\r\n\r\nb,1, 2 ,3"),
                 {}, symbols_);
  ASSERT_TRUE(trace) << trace.error().message;
  ASSERT_EQ(trace->jobs.size(), 2U);
  EXPECT_EQ(trace->jobs[1].gpus, 3);
  EXPECT_EQ(trace->jobs[1].duration, 2);
}

}  // namespace
}  // namespace muster
