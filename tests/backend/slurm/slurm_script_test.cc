// The batch script of a job, run by a real shell beside a squeue that says what it is told to.
#include "backend/slurm/slurm_script.h"

#include <filesystem>
#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backend/slurm/command.h"
#include "backend/slurm/mark.h"
#include "backend/slurm/slurm_record.h"
#include "support/temporary_folder.h"

namespace muster {
namespace {

class SlurmScriptTest : public ::testing::Test {
 protected:
  SlurmScriptTest() {
    std::filesystem::create_directories(folder_.path() / "runs" / "17.2");
    squeue("RUNNING muster/lab/-/17/2/0/1");
    program("scontrol", "echo n1");
    program("train", R"(echo "$MUSTER_JOB $MUSTER_LAUNCH $WORLD_SIZE $RANK" >>trained
[ -z "$1" ] || sleep "$1"
exit ${2:-0})");
  }

  void program(const char* name, const std::string& text) {
    const std::filesystem::path file = folder_.path() / name;
    std::ofstream(file) << "#!/bin/sh\n" << text << "\n";
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  }
  void squeue(const std::string& answer) { program("squeue", "echo '" + answer + "'"); }

  // The exit status; the script is given up after some seconds.
  int run(std::vector<std::string> arguments = {}, double seconds = 20) {
    RunOrder order;
    order.run = {JobId{17}, 1};
    order.process_per_gpu = per_gpu_;
    order.environment = environment_;
    order.working_directory = folder_.path().string();
    order.command = {(folder_.path() / "train").string()};
    order.command.insert(order.command.end(), arguments.begin(), arguments.end());
    const std::string script =
        batch_script(order, folder_.path() / "runs", own_mark_prefix("lab", JobId{17}));
    const std::string path = folder_.path().string() + ":/usr/bin:/bin";
    CommandLimits limits;
    limits.seconds = seconds;
    const auto done = run_command({"env", "-i", "PATH=" + path, "SLURM_JOB_ID=4",
                                   "SLURM_JOB_NUM_NODES=1", "SLURM_JOB_NODELIST=n1", "sh"},
                                  limits, script);
    return done ? done->status : -1;
  }
  std::string trained() const {
    std::ifstream file(folder_.path() / "trained");
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::optional<SlurmRecord> record() const {
    return read_slurm_record(folder_.path() / "runs", JobId{17});
  }
  void touch(const std::string& name) const { std::ofstream(folder_.path() / "runs" / name) << ""; }

  TemporaryFolder folder_;
  bool per_gpu_ = false;
  std::vector<std::pair<std::string, std::string>> environment_;
};

TEST_F(SlurmScriptTest, RunsTheLaunchOfTheCommentAndNotesItsEnd) {
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(trained(), "17 2 1 0\n");
  ASSERT_TRUE(record());
  EXPECT_EQ(record()->launch, 2U);
  EXPECT_EQ(record()->status, 0);
  EXPECT_TRUE(slurm_launch_began(folder_.path() / "runs", {JobId{17}, 2}));
}

TEST_F(SlurmScriptTest, AJobThatHasFinishedIsNotRunAgain) {
  EXPECT_EQ(run(), 0);
  squeue("RUNNING muster/lab/-/17/3/0/1");
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(trained(), "17 2 1 0\n");
}

TEST_F(SlurmScriptTest, TheEnvironmentOfAJobDoesNotEndIt) {
  environment_ = {{"status", "0"}, {"told", "yes"}, {"each", "x"}};
  EXPECT_EQ(run({"0", "3"}), 3);
  EXPECT_EQ(record()->status, 3);
}

TEST_F(SlurmScriptTest, OneThatFailedIs) {
  EXPECT_EQ(run({"0", "3"}), 3);
  EXPECT_EQ(record()->status, 3);
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(trained(), "17 2 1 0\n17 2 1 0\n");
}

TEST_F(SlurmScriptTest, NeverTwoAtOnce) {
  std::thread first([this] { EXPECT_EQ(run({"2"}), 0); });
  while (trained().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(run({"2"}), 0) << "it waits for the first, and then need not run";
  first.join();
  EXPECT_EQ(trained(), "17 2 1 0\n");
}

TEST_F(SlurmScriptTest, OneThatSlurmDoesNotKnowDoesNotBegin) {
  for (const char* answer :
       {"PENDING muster/lab/-/17/2/0/1", "", "RUNNING muster/lab/-/18/1/0/1"}) {
    squeue(answer);
    EXPECT_EQ(run({}, 2), -1) << answer;
  }
  program("squeue", "exit 1");
  EXPECT_EQ(run({}, 2), -1);
  EXPECT_EQ(trained(), "");
}

TEST_F(SlurmScriptTest, OneThatWasToldToLeaveHasNoRecord) {
  touch("17.2/told-to-stop");
  EXPECT_EQ(run(), 0);
  EXPECT_FALSE(record());
}

TEST_F(SlurmScriptTest, HandsOnThatItIsToldToLeave) {
  program("train", R"(trap 'echo saved >>trained; exit 5' TERM
echo began >>trained
kill -TERM $PPID
sleep 10 & wait)");
  touch("17.2/told-to-stop");
  EXPECT_EQ(run(), 5);
  EXPECT_EQ(trained(), "began\nsaved\n");
  EXPECT_FALSE(record());
}

TEST_F(SlurmScriptTest, AnSrunThatStartsNoRankIsTriedAgain) {
  per_gpu_ = true;
  program("srun", R"sh(echo srun >>trained
[ "$(wc -l <trained)" -ge 2 ] || exit 1
while [ "$1" != /bin/sh ]; do shift; done
SLURM_PROCID=0 SLURM_LOCALID=0 exec "$@")sh");
  EXPECT_EQ(run({"0", "3"}), 3) << "what a rank ends with is its own";
  EXPECT_EQ(trained(), "srun\nsrun\n17 2 1 0\n");
  EXPECT_EQ(record()->status, 3);
}

TEST_F(SlurmScriptTest, WhereTheFolderIsNotSeenItRunsAllTheSame) {
  std::filesystem::remove_all(folder_.path() / "runs");
  EXPECT_EQ(run({"0", "3"}), 3);
  EXPECT_EQ(trained(), "17 2 1 0\n");
}

TEST(SlurmRecordTest, WhatMakesNoSenseIsNone) {
  const TemporaryFolder folder;
  for (const char* text : {"", "1", "1 2 3", "x 0", "1 x", "-1 0", "1 256", "99999999999 0"}) {
    std::ofstream(folder.path() / "3.exit") << text;
    EXPECT_FALSE(read_slurm_record(folder.path(), JobId{3})) << text;
  }
  std::ofstream(folder.path() / "3.exit") << "2 75\n";
  EXPECT_EQ(read_slurm_record(folder.path(), JobId{3})->status, 75);
  drop_slurm_record(folder.path(), JobId{3});
  EXPECT_FALSE(read_slurm_record(folder.path(), JobId{3}));
}

}  // namespace
}  // namespace muster
