#include "report/result_folder.h"

#include <csignal>
#include <filesystem>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_run.h"
#include "report/result_reader.h"
#include "support/temporary_folder.h"

namespace muster {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

RunInfo hostile_info() {
  RunInfo info;
  info.label = "fifo \"strict\" </script>";
  info.settings = {{"trace", "fake"}, {"seed", "1"}};
  info.rerun = "muster simulate run.toml";
  info.wall_s = 0.25;
  info.peak_rss_mb = 12.5;
  return info;
}

// Writes a run and returns the records that went in.
std::vector<JobRecord> write_result(const fs::path& folder,
                                    const FakeRun& run = {.jobs = 100, .refuse_every = 10}) {
  Symbols symbols;
  auto writer = ResultWriter::open(
      {.folder = folder, .turns = true, .inputs = {{"run.toml", "seed = 1\n"}}}, symbols);
  EXPECT_TRUE(writer) << writer.error().message;
  const auto jobs = play(run, symbols, **writer);
  const auto placed = (*writer)->finish(hostile_info());
  EXPECT_TRUE(placed) << placed.error().message;
  return jobs;
}

std::vector<std::string> entries(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

TEST(ResultFolder, HoldsWhatTheFormatPromises) {
  TemporaryFolder folder;
  write_result(folder.path() / "run");
  EXPECT_EQ(entries(folder.path()), std::vector<std::string>{"run"})
      << "nothing else may stay behind";
  EXPECT_EQ(entries(folder.path() / "run"),
            (std::vector<std::string>{"decisions.bin", "inputs", "jobs.csv", "summary.json",
                                      "timeline.csv", "turns.csv"}));
  EXPECT_EQ(folder.read("run/inputs/run.toml"), "seed = 1\n");
  const std::string jobs = folder.read("run/jobs.csv");
  EXPECT_EQ(
      jobs.rfind("job_id,submit_s,start_s,end_s,jct_s,queue_s,gpus,status,reason,preemptions,", 0),
      0U);
}

TEST(ResultFolder, ReadsBackJobForJob) {
  TemporaryFolder folder;
  const auto expected = write_result(
      folder.path() / "run",
      {.jobs = 300, .shortest_first = true, .refuse_every = 20, .whole_seconds = false});
  const auto result = ResultFolder::open(folder.path() / "run");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->summary().complete);
  EXPECT_EQ(result->summary().info.label, hostile_info().label);
  EXPECT_EQ(result->summary().info.settings, hostile_info().settings);
  EXPECT_EQ(result->summary().summary.metrics.jobs, 300);
  EXPECT_EQ(result->summary().summary.metrics.wall_s, 0.25);
  Symbols symbols;
  std::size_t next = 0;
  const Status read = result->for_each_job(symbols, [&](const JobRecord& job) {
    const JobRecord& wanted = expected[next++];
    EXPECT_EQ(job.id, wanted.id);
    EXPECT_EQ(job.name, wanted.name);
    EXPECT_EQ(job.submit, wanted.submit);
    EXPECT_EQ(job.start, wanted.start);
    EXPECT_EQ(job.end, wanted.end);
    EXPECT_EQ(job.queue, wanted.queue);
    EXPECT_EQ(job.gpus, wanted.gpus);
    EXPECT_EQ(job.status, wanted.status);
    EXPECT_EQ(job.reason, wanted.reason);
    EXPECT_EQ(job.gpu_seconds, wanted.gpu_seconds);
    EXPECT_EQ(job.deadline, wanted.deadline);
    EXPECT_EQ(symbols.text(job.model), "resnet50");
    return true;
  });
  EXPECT_TRUE(read) << read.error().message;
  EXPECT_EQ(next, 300U);
  const auto timeline = result->timeline();
  ASSERT_TRUE(timeline);
  EXPECT_GT(timeline->buckets.size(), 10U);
  EXPECT_GT(timeline->width, 0);
  const auto inputs = result->inputs();
  ASSERT_TRUE(inputs);
  EXPECT_EQ(inputs->at("run.toml"), "seed = 1\n");
  auto decisions = result->decisions();
  ASSERT_TRUE(decisions);
  int starts = 0;
  while (const Decision* decision = decisions->next()) {
    if (decision->action != Action::kStart) continue;
    ++starts;
    EXPECT_EQ(decisions->placement().gpus(), decision->gpus);
  }
  EXPECT_GT(starts, 285);
}

TEST(ResultFolder, SummaryReadsBackWhole) {
  Symbols symbols;
  MetricsFold fold(symbols);
  fold.add(std::make_unique<IdleWhileWaiting>());
  play({.jobs = 150, .shortest_first = true}, symbols, fold);
  SummaryFile file{hostile_info(), fold.summary(), false, "interrupted"};
  file.summary.metrics.wall_s = file.info.wall_s;
  file.summary.metrics.peak_rss_mb = file.info.peak_rss_mb;
  const std::string text = summary_to_json(file);
  const auto back = summary_from_json(text, "summary.json");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(summary_to_json(*back), text);
  EXPECT_FALSE(back->complete);
  EXPECT_EQ(back->incomplete_because, "interrupted");
}

TEST(ResultFolder, SameRunSameBytes) {
  TemporaryFolder folder;
  write_result(folder.path() / "a");
  write_result(folder.path() / "b");
  for (const char* name :
       {"summary.json", "jobs.csv", "decisions.bin", "timeline.csv", "turns.csv"}) {
    EXPECT_EQ(folder.read(fs::path("a") / name), folder.read(fs::path("b") / name)) << name;
  }
}

TEST(ResultFolder, QuotesNamesThatNeedIt) {
  TemporaryFolder folder;
  Symbols symbols;
  auto writer = ResultWriter::open({.folder = folder.path() / "run"}, symbols);
  ASSERT_TRUE(writer);
  JobRecord job;
  job.name = "a,\"b\"\nc";
  job.end = 1;
  job.user = symbols.intern("x,y");
  (*writer)->on_job_end(job);
  ASSERT_TRUE((*writer)->finish({}));
  const auto result = ResultFolder::open(folder.path() / "run");
  ASSERT_TRUE(result);
  Symbols names;
  int seen = 0;
  ASSERT_TRUE(result->for_each_job(names, [&](const JobRecord& found) {
    EXPECT_EQ(found.name, job.name);
    EXPECT_EQ(names.text(found.user), "x,y");
    ++seen;
    return true;
  }));
  EXPECT_EQ(seen, 1);
}

TEST(ResultFolder, ReplacesAnOlderResultInOneStep) {
  TemporaryFolder folder;
  write_result(folder.path() / "run", {.jobs = 10});
  write_result(folder.path() / "run", {.jobs = 20});
  EXPECT_EQ(ResultFolder::open(folder.path() / "run")->summary().summary.metrics.jobs, 20);
  EXPECT_EQ(entries(folder.path()), std::vector<std::string>{"run"});
}

TEST(ResultFolder, FillsAnEmptyFolderAndMakesParents) {
  TemporaryFolder folder;
  fs::create_directory(folder.path() / "empty");
  write_result(folder.path() / "empty", {.jobs = 10});
  write_result(folder.path() / "a/b/c/", {.jobs = 10});
  EXPECT_TRUE(ResultFolder::open(folder.path() / "empty"));
  EXPECT_TRUE(ResultFolder::open(folder.path() / "a/b/c"));
}

TEST(ResultFolder, RefusesAFolderThatIsNotItsOwn) {
  TemporaryFolder folder;
  folder.write("mine/thesis.tex", "years of work");
  Symbols symbols;
  const auto refused = ResultWriter::open({.folder = folder.path() / "mine"}, symbols);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("thesis.tex"));
  EXPECT_THAT(refused.error().message, HasSubstr("--force"));
  folder.write("file", "");
  EXPECT_FALSE(ResultWriter::open({.folder = folder.path() / "file"}, symbols));
  EXPECT_FALSE(ResultWriter::open({.folder = folder.path() / "file/below"}, symbols));
  EXPECT_FALSE(ResultWriter::open({.folder = ""}, symbols));
  EXPECT_FALSE(ResultWriter::open({.folder = "/"}, symbols));
}

TEST(ResultFolder, RefusesAResultWithNotesBesideIt) {
  TemporaryFolder folder;
  write_result(folder.path() / "run", {.jobs = 10});
  folder.write("run/notes.txt", "keep me");
  Symbols symbols;
  EXPECT_FALSE(ResultWriter::open({.folder = folder.path() / "run"}, symbols));
}

TEST(ResultFolder, ForceSetsAForeignFolderAsideAndDeletesNothing) {
  TemporaryFolder folder;
  folder.write("mine/thesis.tex", "years of work");
  Symbols symbols;
  auto writer = ResultWriter::open({.folder = folder.path() / "mine", .force = true}, symbols);
  ASSERT_TRUE(writer) << writer.error().message;
  ASSERT_TRUE((*writer)->finish({}));
  EXPECT_TRUE(ResultFolder::open(folder.path() / "mine"));
  EXPECT_EQ(folder.read("mine.old/thesis.tex"), "years of work");
}

TEST(ResultFolder, LeavesNothingWhenAbandoned) {
  TemporaryFolder folder;
  Symbols symbols;
  {
    auto writer = ResultWriter::open({.folder = folder.path() / "run"}, symbols);
    ASSERT_TRUE(writer);
    EXPECT_EQ(entries(folder.path()).size(), 1U);
    play({.jobs = 10}, symbols, **writer);
  }
  EXPECT_TRUE(entries(folder.path()).empty());
}

TEST(ResultFolder, MarksAnInterruptedRun) {
  TemporaryFolder folder;
  write_result(folder.path() / "run", {.jobs = 10});
  Symbols symbols;
  auto writer = ResultWriter::open({.folder = folder.path() / "run"}, symbols);
  ASSERT_TRUE(writer);
  play({.jobs = 30}, symbols, **writer);
  const auto placed = (*writer)->finish_incomplete(hostile_info(), "interrupted by the user");
  ASSERT_TRUE(placed) << placed.error().message;
  EXPECT_EQ(placed->folder, (folder.path() / "run.incomplete").string());
  const auto result = ResultFolder::open(placed->folder);
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->summary().complete);
  EXPECT_EQ(result->summary().incomplete_because, "interrupted by the user");
  EXPECT_EQ(ResultFolder::open(folder.path() / "run")->summary().summary.metrics.jobs, 10)
      << "the old one stands";
}

TEST(ResultFolder, TellsWhenAFolderCannotBeWritten) {
  TemporaryFolder folder;
  const fs::path locked = folder.path() / "locked";
  fs::create_directory(locked);
  // Permissions do not stop root; a read-only disk does.
  const bool root = ::geteuid() == 0;
  if (root && ::mount("tmpfs", locked.c_str(), "tmpfs", MS_RDONLY, nullptr) != 0) {
    GTEST_SKIP() << "may not mount a read-only disk here";
  }
  if (!root) fs::permissions(locked, fs::perms::owner_read | fs::perms::owner_exec);
  Symbols symbols;
  const auto refused = ResultWriter::open({.folder = locked / "run"}, symbols);
  if (root) ::umount(locked.c_str());
  if (!root) fs::permissions(locked, fs::perms::owner_all);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("choose a folder that you may write to"));
}

TEST(ResultFolder, ReaderNamesWhatIsWrong) {
  TemporaryFolder folder;
  EXPECT_THAT(ResultFolder::open(folder.path() / "none").error().message,
              HasSubstr("not a folder"));
  EXPECT_THAT(ResultFolder::open(folder.path()).error().message,
              HasSubstr("no readable summary.json"));
  folder.write("summary.json", "{\"format\": \"muster-res");
  EXPECT_THAT(ResultFolder::open(folder.path()).error().message, HasSubstr("damaged or cut off"));
  folder.write("summary.json", "{\"format\": \"other\"}");
  EXPECT_THAT(ResultFolder::open(folder.path()).error().message,
              HasSubstr("expected 'muster-result'"));
  folder.write("summary.json", "{\"format\": \"muster-result\", \"version\": 99}");
  EXPECT_THAT(ResultFolder::open(folder.path()).error().message, HasSubstr("version 99"));
}

TEST(ResultFolder, ReaderNamesTheLineAndColumnOfABadJob) {
  TemporaryFolder folder;
  write_result(folder.path() / "run", {.jobs = 3});
  const auto result = ResultFolder::open(folder.path() / "run");
  ASSERT_TRUE(result);
  Symbols symbols;
  const auto visit = [](const JobRecord&) { return true; };
  std::string jobs = folder.read("run/jobs.csv");
  jobs.replace(jobs.find('\n') + 1, 1, "x");
  folder.write("run/jobs.csv", jobs);
  const Status bad = result->for_each_job(symbols, visit);
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().message, HasSubstr("line 2, column job_id"));
  folder.write("run/jobs.csv", jobs.substr(0, jobs.find('\n') + 9));
  EXPECT_THAT(result->for_each_job(symbols, visit).error().message, HasSubstr("cut off"));
  folder.write("run/jobs.csv", "job,submit\n");
  EXPECT_THAT(result->for_each_job(symbols, visit).error().message, HasSubstr("expected 'job_id'"));
}

// Lets no file of this process grow beyond `bytes` while it lives.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    struct rlimit now = before_;
    now.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &now);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  void (*handler_)(int);
  struct rlimit before_ {};
};

TEST(ResultFolder, TellsWhenAFileCannotGrowAndLeavesNothing) {
  TemporaryFolder folder;
  write_result(folder.path() / "run", {.jobs = 10});
  Symbols symbols;
  auto writer = ResultWriter::open({.folder = folder.path() / "run"}, symbols);
  ASSERT_TRUE(writer);
  Result<PlacedResult> placed = Error{};
  bool failed = false;
  {
    const FileSizeLimit limit(100000);
    play({.jobs = 5000, .mean_gap = 3000}, symbols, **writer);
    failed = (*writer)->failed();
    placed = (*writer)->finish({});
  }
  EXPECT_TRUE(failed) << "a long run can stop as soon as writing fails";
  ASSERT_FALSE(placed);
  EXPECT_THAT(placed.error().message, HasSubstr("jobs.csv"));
  EXPECT_THAT(placed.error().message, HasSubstr("ulimit -f"));
  EXPECT_EQ(entries(folder.path()), std::vector<std::string>{"run"});
  EXPECT_EQ(ResultFolder::open(folder.path() / "run")->summary().summary.metrics.jobs, 10)
      << "the old one stands";
}

TEST(ResultFolder, TellsWhenTheDiskIsFullAndLeavesNothing) {
  TemporaryFolder folder;
  const fs::path disk = folder.path() / "disk";
  fs::create_directory(disk);
  if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=256k") != 0) {
    GTEST_SKIP() << "may not mount a small disk here";
  }
  {
    Symbols symbols;
    auto writer = ResultWriter::open({.folder = disk / "run"}, symbols);
    EXPECT_TRUE(writer);
    if (writer) {
      play({.jobs = 5000, .mean_gap = 3000}, symbols, **writer);
      const auto placed = (*writer)->finish({});
      EXPECT_THAT(placed ? "" : placed.error().message, HasSubstr("free some space"));
    }
  }
  EXPECT_TRUE(entries(disk).empty());
  ::umount(disk.c_str());
}

TEST(OutFile, NeverWritesOverAFile) {
  TemporaryFolder folder;
  const std::string path = folder.write("there.txt", "precious");
  EXPECT_FALSE(OutFile::create(path));
  EXPECT_EQ(folder.read("there.txt"), "precious");
}

TEST(PeakMemory, IsPlausible) {
  EXPECT_GT(peak_rss_mb(), 1);
  EXPECT_LT(peak_rss_mb(), 100000);
}

}  // namespace
}  // namespace muster
