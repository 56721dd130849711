// The executor of this machine with real keepers and real processes.
#include "backend/local/local_executor.h"

#include <chrono>
#include <fstream>
#include <signal.h>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/keeper/process_tree.h"
#include "backend/local/run_folder.h"
#include "base/out_file.h"
#include "support/paths.h"
#include "support/temporary_folder.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

class LocalRun : public ::testing::Test {
 protected:
  LocalRun() { begin(1); }
  ~LocalRun() override {
    executor_.reset();
    for (const RunId run : runs_in(folder_.path() / "runs")) {
      kill_marked("MUSTER_RUN_FOLDER", (folder_.path() / "runs" / run_folder_name(run)).string());
    }
  }

  void begin(std::uint64_t generation) {
    executor_.reset();
    LocalSettings settings;
    settings.runs = folder_.path() / "runs";
    settings.ended = folder_.path() / "ended";
    settings.keeper =
        std::filesystem::read_symlink("/proc/self/exe").parent_path() / "muster-keeper";
    settings.cpus_of_gpu = cpus_of_gpu_;
    auto made = LocalExecutor::make(settings, generation, mailbox_);
    ASSERT_TRUE(made) << made.error().message;
    executor_ = std::move(*made);
  }

  RunOrder order(std::uint32_t job, std::vector<std::string> command) {
    RunOrder order;
    order.run = {JobId{job}, 1};
    order.generation = 1;
    order.gpus.add(NodeId{0}, 0b101);
    order.process_per_gpu = false;
    order.command = std::move(command);
    order.environment = {{"PATH", "/usr/bin:/bin"}};
    order.working_directory = folder_.path().string();
    return order;
  }

  // The next report about a run that is this event; others are passed over.
  RunReport hear(RunEvent event) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < limit) {
      for (; next_ < heard_.size(); ++next_) {
        const auto* run = std::get_if<RunReport>(&heard_[next_]);
        if (run != nullptr && run->event == event) return *run;
      }
      for (Report& report : mailbox_.take(limit)) heard_.push_back(std::move(report));
    }
    ADD_FAILURE() << "no report '" << run_event_name(event) << "'";
    return {};
  }
  void hear_census(std::uint64_t number) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < limit) {
      for (const Report& report : heard_) {
        const auto* census = std::get_if<CensusReport>(&report);
        if (census != nullptr && census->number == number) return;
      }
      for (Report& report : mailbox_.take(limit)) heard_.push_back(std::move(report));
    }
    ADD_FAILURE() << "no census " << number;
  }
  std::string log(std::uint32_t job, const char* parent = "runs") {
    std::ifstream file(folder_.path() / parent / (std::to_string(job) + ".1") / "rank-0.log");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  TemporaryFolder folder_;
  std::vector<std::vector<int>> cpus_of_gpu_;
  Mailbox mailbox_;
  std::unique_ptr<LocalExecutor> executor_;
  std::vector<Report> heard_;
  std::size_t next_ = 0;
};

TEST_F(LocalRun, GoesFromOrderToRecord) {
  const RunOrder one = order(1, {"sh", "-c", "echo $CUDA_VISIBLE_DEVICES"});
  executor_->prepare(one);
  hear(RunEvent::kReady);
  EXPECT_EQ(log(1), "");
  executor_->go(one.run);
  hear(RunEvent::kStarted);
  const RunReport end = hear(RunEvent::kExited);
  EXPECT_EQ(end.outcome, RunOutcome::kFinished);
  EXPECT_EQ(log(1), "0,2\n");
  executor_->acknowledge(one.run);
  executor_->census(7);
  hear_census(7);
  EXPECT_EQ(log(1, "ended"), "0,2\n");
  EXPECT_TRUE(runs_in(folder_.path() / "runs").empty());
}

TEST_F(LocalRun, RanksArePinnedToTheProcessorsNearTheirGpus) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "needs two processors";
  cpus_of_gpu_ = {{1}, {0}, {0, 1}};
  begin(1);
  RunOrder one = order(1, {"grep", "Cpus_allowed_list", "/proc/self/status"});
  one.process_per_gpu = true;  // GPUs 0 and 2
  executor_->prepare(one);
  hear(RunEvent::kReady);
  executor_->go(one.run);
  hear(RunEvent::kExited);
  EXPECT_EQ(log(1), "Cpus_allowed_list:\t1\n");
  std::ifstream other(folder_.path() / "runs/1.1/rank-1.log");
  std::string line;
  std::getline(other, line);
  EXPECT_EQ(line, "Cpus_allowed_list:\t0-1");
}

TEST_F(LocalRun, WordsMayBeRepeated) {
  const RunOrder one = order(1, {"sleep", "1000"});
  executor_->prepare(one);
  executor_->prepare(one);
  hear(RunEvent::kReady);
  executor_->go(one.run);
  executor_->go(one.run);
  hear(RunEvent::kStarted);
  executor_->stop(one.run, Grace{10});
  executor_->stop(one.run, Grace{10});
  EXPECT_EQ(hear(RunEvent::kExited).outcome, RunOutcome::kStopped);
  executor_->stop(one.run, Grace{10});
  EXPECT_EQ(hear(RunEvent::kExited).outcome, RunOutcome::kStopped);
}

TEST_F(LocalRun, WhatCannotStartSaysWhy) {
  const RunOrder one = order(1, {"/no/such/program"});
  executor_->prepare(one);
  EXPECT_THAT(hear(RunEvent::kStartFailed).detail, HasSubstr("/no/such/program"));
}

TEST_F(LocalRun, AStopOfAnUnknownRunIsAnswered) {
  executor_->stop({JobId{3}, 1}, Grace{});
  EXPECT_EQ(hear(RunEvent::kStartFailed).run.job, JobId{3});
}

TEST_F(LocalRun, AnotherExecutorFindsThemAgain) {
  const RunOrder runs = order(1, {"sleep", "1000"});
  const RunOrder waits = order(2, {"true"});
  const RunOrder ends = order(3, {"true"});
  for (const RunOrder& one : {runs, waits, ends}) executor_->prepare(one);
  for (int i = 0; i < 3; ++i, ++next_) hear(RunEvent::kReady);
  executor_->go(runs.run);
  executor_->go(ends.run);
  hear(RunEvent::kExited);
  heard_.clear();
  next_ = 0;
  begin(2);
  executor_->census(9);
  hear_census(9);
  std::map<std::size_t, RunEvent> seen;
  for (const Report& report : heard_) {
    if (const auto* run = std::get_if<RunReport>(&report)) seen[index(run->run.job)] = run->event;
  }
  EXPECT_EQ(seen,
            (std::map<std::size_t, RunEvent>{
                {1, RunEvent::kSeenRunning}, {2, RunEvent::kSeenReady}, {3, RunEvent::kExited}}));
  next_ = heard_.size();
  executor_->stop(runs.run, Grace{});
  executor_->stop(waits.run, Grace{});
  EXPECT_EQ(hear(RunEvent::kExited).run, runs.run);
}

TEST_F(LocalRun, BothKilledIsAnEndToo) {
  const RunOrder one = order(1, {"sleep", "1000"});
  executor_->prepare(one);
  hear(RunEvent::kReady);
  executor_->go(one.run);
  hear(RunEvent::kStarted);
  const std::filesystem::path run_folder = folder_.path() / "runs" / "1.1";
  ASSERT_TRUE(keeper_lives(run_folder));
  // Guard first: its keeper is then told by the kernel, and would clear up.
  for (int i = 0; i < 20 && keeper_lives(run_folder); ++i) {
    for (const pid_t process : descendants(getpid())) {
      const auto line = read_file("/proc/" + std::to_string(process) + "/cmdline");
      if (line && line->find("muster-keeper") != std::string::npos) kill(process, SIGKILL);
    }
  }
  EXPECT_EQ(hear(RunEvent::kExited).outcome, RunOutcome::kStopped);
}

TEST(RunFolder, NamesHaveOneSpelling) {
  EXPECT_EQ(parse_run_folder("12.3"), (RunId{JobId{12}, 3}));
  for (const char* name :
       {"", "12", "12.", ".3", "012.3", "1.2.3", "-1.2", "x.1", "1.4294967296"}) {
    EXPECT_FALSE(parse_run_folder(name)) << name;
  }
}

}  // namespace
}  // namespace muster
