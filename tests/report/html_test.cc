#include "report/html.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_run.h"
#include "report/html_parts.h"
#include "report/result_folder.h"
#include "support/paths.h"
#include "support/temporary_folder.h"

namespace muster {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Plays a run into a result folder and reads what a page needs from it.
PageRun run_into(const std::filesystem::path& folder, const std::string& label,
                 const FakeRun& run) {
  Symbols symbols;
  auto writer = ResultWriter::open({.folder = folder}, symbols);
  EXPECT_TRUE(writer) << writer.error().message;
  (*writer)->metrics().add(std::make_unique<IdleWhileWaiting>());
  play(run, symbols, **writer);
  RunInfo info;
  info.label = label;
  info.settings = {
      {"trace", "made up, 600 jobs"}, {"cluster", "4 nodes of 8 GPUs"}, {"policy", label}};
  info.rerun = "muster simulate inputs/run.toml";
  info.wall_s = 0.125;
  info.peak_rss_mb = 33;
  const auto placed = (*writer)->finish(info);
  EXPECT_TRUE(placed) << placed.error().message;
  const auto result = ResultFolder::open(folder);
  EXPECT_TRUE(result) << result.error().message;
  auto page = page_run(*result);
  EXPECT_TRUE(page) << page.error().message;
  return std::move(*page);
}

TEST(Html, EscapesNamesEverywhere) {
  TemporaryFolder folder;
  const std::string evil = "</script><img src=x onerror=alert(1)>\"'&";
  PageRun run = run_into(folder.path() / "run", evil, {.jobs = 30});
  run.gantt->jobs.front().name = evil;
  const std::string page = report_page({run, run});
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, HasSubstr("&lt;/script&gt;"));
  // One data block and one script, each closed once.
  std::size_t closed = 0;
  for (std::size_t at = page.find("</script>"); at != std::string::npos;
       at = page.find("</script>", at + 1))
    ++closed;
  EXPECT_EQ(closed, 2U);
}

TEST(Html, SpeaksOfOneRunInASentence) {
  PageRun run;
  run.summary.metrics.jobs = 1000;
  run.summary.metrics.cluster_gpus = 64;
  EXPECT_EQ(headline({run}), "None of 1,000 jobs on 64 GPUs finished.");
  run.summary.metrics.finished = 1000;
  run.summary.metrics.p50_jct_s = 7800;
  run.summary.metrics.utilization = 0.713;
  EXPECT_EQ(headline({run}),
            "1,000 jobs on 64 GPUs: half finished within 2 h 10 min of submission, with 71 % "
            "of the GPUs in use.");
}

// Who knows how long jobs will run wins easily: the headline says so, and who is best of the
// others.
TEST(Html, DoesNotPraiseWhoKnowsDurationsWithoutSayingSo) {
  PageRun fifo;
  fifo.info.label = "fifo";
  fifo.summary.metrics.avg_jct_s = 7200;
  PageRun las = fifo;
  las.info.label = "las";
  las.summary.metrics.avg_jct_s = 5400;
  PageRun srtf = fifo;
  srtf.info.label = "srtf";
  srtf.info.clairvoyant = true;
  srtf.summary.metrics.avg_jct_s = 3600;
  EXPECT_EQ(headline({fifo, srtf}),
            "Jobs take 1 h on average with srtf, against 2 h with fifo: 2 times faster. But srtf "
            "knows how long jobs will run, and fifo does not.");
  EXPECT_THAT(headline({fifo, las, srtf}),
              HasSubstr("and fifo does not; las does not either, and takes 1 h 30 min."));
  fifo.info.clairvoyant = true;
  EXPECT_THAT(headline({fifo, srtf}), Not(HasSubstr("knows")));
}

TEST(Html, ComparesTheBestWithTheFirst) {
  PageRun fifo;
  fifo.info.label = "fifo";
  fifo.summary.metrics.avg_jct_s = 7200;
  fifo.summary.metrics.p99_jct_s = 10000;
  PageRun srtf;
  srtf.info.label = "srtf";
  srtf.summary.metrics.avg_jct_s = 3600;
  srtf.summary.metrics.p99_jct_s = 20000;
  EXPECT_EQ(headline({fifo, srtf}),
            "Jobs take 1 h on average with srtf, against 2 h with fifo: 2 times faster. The "
            "slowest 1 % pay for it: "
            "5 h 33 min against 2 h 47 min.");
  srtf.summary.metrics.p99_jct_s = 9000;
  EXPECT_EQ(headline({srtf, fifo}),
            "Jobs take 1 h on average with srtf, against 2 h with fifo: 2 times faster.");
  fifo.summary.metrics.avg_jct_s = 5400;
  EXPECT_EQ(headline({srtf, fifo}),
            "Jobs take 1 h on average with srtf, against 1 h 30 min with fifo: 33 % less.");
  fifo.summary.metrics.avg_jct_s = 3600;
  EXPECT_EQ(headline({srtf, fifo}), "All 2 runs take equally long on average.");
  fifo.summary.metrics.avg_jct_s = kNoFigure;
  EXPECT_EQ(headline({srtf, fifo}), "2 runs.");
  EXPECT_EQ(headline({}), "No runs.");
}

TEST(Html, WarnsOfAnIncompleteRun) {
  PageRun run;
  run.info.label = "las";
  run.complete = false;
  run.incomplete_because = "interrupted";
  EXPECT_THAT(report_page({run}), HasSubstr("<strong>las</strong> is incomplete: interrupted."));
}

TEST(Html, StaysSmallWhateverTheRun) {
  TemporaryFolder folder;
  const PageRun run = run_into(folder.path() / "run", "fifo", {.jobs = 20000, .mean_gap = 3000});
  EXPECT_LE(run.summary.jct_curve.size(), 400U);
  EXPECT_FALSE(run.gantt) << "too many jobs to draw one by one";
  EXPECT_LT(report_page({run}).size(), 200000U);
}

TEST(Html, JoinsGpuCountsInStepsOfTwo) {
  std::vector<GroupRow> sizes(5);
  sizes[0] = {
      .name = "1", .jobs = 4, .finished = 4, .avg_jct_s = 10, .avg_queue_s = 1, .gpu_hours = 1};
  sizes[1] = {
      .name = "3", .jobs = 1, .finished = 1, .avg_jct_s = 20, .avg_queue_s = 2, .gpu_hours = 1};
  sizes[2] = {
      .name = "4", .jobs = 3, .finished = 3, .avg_jct_s = 40, .avg_queue_s = 6, .gpu_hours = 2};
  sizes[3] = {.name = "5", .jobs = 1, .refused = 1};
  sizes[4] = {.name = "2", .jobs = 1, .failed = 1};
  const auto steps = size_steps(sizes);
  ASSERT_EQ(steps.size(), 4U);
  EXPECT_EQ(steps[0].name, "1");
  EXPECT_EQ(steps[1].name, "2");
  EXPECT_EQ(steps[2].name, "3–4");
  EXPECT_EQ(steps[2].jobs, 4);
  EXPECT_DOUBLE_EQ(steps[2].avg_jct_s, 35);
  EXPECT_EQ(steps[3].name, "5–8");
  EXPECT_TRUE(std::isnan(steps[3].avg_jct_s));
}

TEST(Html, ShowsTheBusiestStretch) {
  TemporaryFolder folder;
  const PageRun run = run_into(folder.path() / "run", "srtf",
                               {.jobs = 400, .mean_gap = 60, .shortest_first = true});
  ASSERT_TRUE(run.gantt);
  EXPECT_LE(run.gantt->jobs.size(), 60U);
  EXPECT_GE(run.gantt->jobs.size(), 20U);
  bool parts = false;
  for (const GanttJob& job : run.gantt->jobs) {
    parts = parts || job.runs.size() > 1;
    ASSERT_FALSE(job.runs.empty());
    EXPECT_GE(job.runs.front().first, job.submit);
    EXPECT_EQ(job.runs.back().second, job.end);
  }
  EXPECT_TRUE(parts) << "preempted jobs run in parts";
}

TEST(Html, CoarserTimelinesKeepTheirAverages) {
  Timeline timeline;
  timeline.width = 2;
  for (int i = 0; i < 10; ++i)
    timeline.buckets.push_back({.start = 2.0 * i, .used_gpus = i * 1.0, .stops = 1});
  const Timeline coarse = coarser(timeline, 5);
  ASSERT_EQ(coarse.buckets.size(), 5U);
  EXPECT_EQ(coarse.width, 4);
  EXPECT_EQ(coarse.buckets[1].start, 4);
  EXPECT_DOUBLE_EQ(coarse.buckets[1].used_gpus, 2.5);
  EXPECT_EQ(coarse.buckets[1].stops, 2);
}

TEST(Html, ReplacesAnOlderReportAndTellsOfFailure) {
  TemporaryFolder folder;
  const std::string path = folder.write("report.html", "old");
  ASSERT_TRUE(write_report(path, {PageRun{}}));
  EXPECT_THAT(folder.read("report.html"), HasSubstr("<!doctype html>"));
  const Status failed = write_report(folder.path() / "none/report.html", {PageRun{}});
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message, HasSubstr("No such file"));
}

// Runs the browser checks of tests/e2e on a report; returns their exit status and output.
std::pair<int, std::string> browse(const std::string& arguments) {
  const std::string command = fmt::format(
      "python3 {} {} 2>&1", (source_dir() / "tests/e2e/report_browser.py").string(), arguments);
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return {-1, "cannot run python3"};
  std::string output;
  std::array<char, 4096> block{};
  while (std::fgets(block.data(), block.size(), pipe) != nullptr) output += block.data();
  return {WEXITSTATUS(::pclose(pipe)), output};
}

TEST(HtmlInChromium, DrawsOneRunSlow) {
  TemporaryFolder folder;
  const PageRun run = run_into(folder.path() / "one", "first come, first served",
                               {.jobs = 600, .refuse_every = 100});
  ASSERT_TRUE(write_report(folder.path() / "report.html", {run}));
  const auto [status, output] =
      browse(fmt::format("{0}/report.html {0}/one", folder.path().string()));
  if (status == 77) GTEST_SKIP() << output;
  EXPECT_EQ(status, 0) << output;
}

TEST(HtmlInChromium, DrawsAComparisonSlow) {
  TemporaryFolder folder;
  std::vector<PageRun> runs;
  runs.push_back(run_into(folder.path() / "a", "fifo", {.jobs = 600, .mean_gap = 150}));
  runs.push_back(run_into(folder.path() / "b", "srtf </script>",
                          {.jobs = 600, .mean_gap = 150, .shortest_first = true}));
  runs.push_back(
      run_into(folder.path() / "c", "fifo, larger", {.jobs = 600, .nodes = 6, .mean_gap = 150}));
  ASSERT_TRUE(write_report(folder.path() / "report.html", runs));
  const auto [status, output] =
      browse(fmt::format("{0}/report.html {0}/a {0}/b {0}/c", folder.path().string()));
  if (status == 77) GTEST_SKIP() << output;
  EXPECT_EQ(status, 0) << output;
}

// A run in which nothing happened must not break the page.
TEST(HtmlInChromium, DrawsEmptyRunsSlow) {
  TemporaryFolder folder;
  const PageRun run = run_into(folder.path() / "none", "empty", {.jobs = 0});
  const std::string page = report_page({run});
  EXPECT_THAT(page, HasSubstr("None of 0 jobs finished."));
}

}  // namespace
}  // namespace muster
