#include <csignal>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "cli/captured.h"
#include "support/temporary_folder.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

Captured generate(const std::string& line) { return captured(add_trace_generate, line); }

TEST(TraceGenerate, WritesATraceAndSaysSo) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "jobs.csv").string();
  const Captured ran = generate("generate poisson -p jobs=50 --param seed=3 -o " + file);
  EXPECT_EQ(ran.status, kExitOk) << ran.err;
  const std::string text = folder.read("jobs.csv");
  EXPECT_EQ(text.substr(0, 32), "job_id,submit_s,duration_s,gpus,");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 51);
  EXPECT_NE(ran.err.find("wrote 50 jobs"), std::string::npos);
  EXPECT_EQ(generate("generate poisson -p jobs=50 -p seed=3").out, text);
}

TEST(TraceGenerate, ListsAndDescribes) {
  EXPECT_NE(generate("generate").out.find("philly-like"), std::string::npos);
  const Captured described = generate("generate diurnal --describe");
  EXPECT_NE(described.out.find("peak_hour"), std::string::npos);
  EXPECT_EQ(described.status, kExitOk);
}

TEST(TraceGenerate, BadUsageIsExplained) {
  const auto expect = [](const std::string& line, std::string_view part) {
    const Captured ran = generate(line);
    EXPECT_EQ(ran.status, kExitBadInput) << line;
    EXPECT_NE(ran.err.find(part), std::string::npos) << ran.err;
    EXPECT_EQ(ran.out, "") << line;
  };
  expect("generate poison", "did you mean 'poisson'");
  expect("generate poisson -p rate", "NAME=VALUE");
  expect("generate poisson -p rat=1", "did you mean 'rate'");
  expect("generate poisson -p jobs=0", "jobs=N");
  expect("generate poisson --format excel", "format");
  expect("generate poisson -o no/such/folder/x.csv", "no/such/folder");
}

TEST(TraceGenerate, SaysWhatATraceCannotCarry) {
  const TemporaryFolder folder;
  const Captured ran =
      generate("generate blox-small-large -p jobs=50 -o " + (folder.path() / "b.csv").string());
  EXPECT_EQ(ran.status, kExitOk);
  EXPECT_NE(ran.err.find("arrival"), std::string::npos) << ran.err;
}

TEST(TraceGenerateDeathTest, CtrlCLeavesNoFile) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "jobs.csv").string();
  EXPECT_EXIT(
      {
        std::thread([] {
          std::this_thread::sleep_for(std::chrono::milliseconds(300));
          kill(getpid(), SIGINT);
        }).detach();
        _exit(run_line(add_trace_generate, "generate poisson -p jobs=2000000000 -q -o " + file));
      },
      testing::ExitedWithCode(kExitInterrupted), "stopping");
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

}  // namespace
}  // namespace muster
