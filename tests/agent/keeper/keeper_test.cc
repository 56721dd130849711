// Keepers with real processes: starts, ends, stops.
#include "agent/keeper/keeper.h"

#include <fstream>
#include <signal.h>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/keeper/live_keeper.h"
#include "agent/keeper/process_tree.h"

namespace muster {
namespace {

using testing::HasSubstr;

std::vector<std::string> shell(const std::string& script) { return {"sh", "-c", script}; }

TEST(Keeper, StartsNothingBeforeGoAndRecordsANormalEnd) {
  TemporaryFolder folder;
  LiveKeeper keeper(folder.path(), simple_order(folder.path(), shell("echo began; touch here")));
  keeper.greet();
  keeper.hear("state ready");
  usleep(50'000);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "here"));
  EXPECT_EQ(keeper.log(), "");
  keeper.say("go");
  keeper.hear("state recorded finished");
  const ExitRecord record = keeper.record();
  EXPECT_EQ(record.job, 7U);
  EXPECT_EQ(record.launch, 3U);
  EXPECT_EQ(record.outcome, KeeperOutcome::kFinished);
  EXPECT_EQ(record.exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "here"));
  EXPECT_EQ(keeper.log(), "began\n");
  EXPECT_TRUE(keeper.ends());
}

TEST(Keeper, RecordsExitCodesAndSignals) {
  const struct {
    std::string script;
    KeeperOutcome outcome;
    int code;
  } cases[] = {{"exit 3", KeeperOutcome::kFailed, 3},
               {"exit 75", KeeperOutcome::kStopped, 75},
               {"kill -SEGV $$", KeeperOutcome::kFailed, 128 + SIGSEGV}};
  for (const auto& one : cases) {
    TemporaryFolder folder;
    LiveKeeper keeper(folder.path(), simple_order(folder.path(), shell(one.script)));
    keeper.greet();
    keeper.hear("state ready");
    keeper.say("go");
    const ExitRecord record = keeper.record();
    EXPECT_EQ(record.outcome, one.outcome) << one.script;
    EXPECT_EQ(record.exit_code, one.code) << one.script;
  }
}

TEST(Keeper, GivesEveryRankItsPlace) {
  TemporaryFolder folder;
  KeeperOrder order = simple_order(
      folder.path(), shell("echo $RANK $LOCAL_RANK $WORLD_SIZE $LOCAL_WORLD_SIZE $MASTER_ADDR "
                           "$MASTER_PORT $CUDA_VISIBLE_DEVICES $MUSTER_JOB $MUSTER_LAUNCH $MINE; "
                           "pwd; umask; grep Cpus_allowed_list /proc/self/status"));
  order.nodes = 2;
  order.world_size = 4;
  order.master_address = "10.0.0.1";
  order.master_port = 4711;
  order.ranks = {{2, 0, {0, 1}, {}}, {3, 1, {5}, {1}}};
  // What the job brings cannot change what Muster sets.
  order.environment.emplace_back("RANK", "99");
  order.environment.emplace_back("MINE", "a b\"$(id)");
  LiveKeeper keeper(folder.path(), order);
  keeper.greet();
  keeper.hear("state ready");
  keeper.say("go");
  keeper.record();
  const std::string where = std::filesystem::canonical(folder.path()).string();
  EXPECT_THAT(keeper.log(2), HasSubstr(fmt::format(
                                 "2 0 4 2 10.0.0.1 4711 0,1 7 3 a b\"$(id)\n{}\n0022\n", where)));
  EXPECT_THAT(keeper.log(3), HasSubstr("3 1 4 2 10.0.0.1 4711 5 7 3"));
  if (std::thread::hardware_concurrency() > 1) {
    EXPECT_THAT(keeper.log(3), HasSubstr("Cpus_allowed_list:\t1\n"));
  }
}

TEST(Keeper, WhatCannotStartIsReturnedWithTheReason) {
  TemporaryFolder folder;
  folder.write("plain.txt", "no program");
  folder.write("script", "echo no first line says what runs this\n");
  std::filesystem::permissions(folder.path() / "script", std::filesystem::perms::owner_all);
  const struct {
    std::vector<std::string> command;
    std::string directory;
    std::string reason;
  } cases[] = {
      {{"no-such-program"}, "", "cannot execute 'no-such-program': No such file"},
      {{"./plain.txt"}, "", "plain.txt: Permission denied"},
      {{"/"}, "", "Is a directory"},
      {{"true"}, "/no/such", "working directory /no/such: No such file"},
      {{"./script"}, "", "rank 0 cannot execute"},
  };
  int number = 0;
  for (const auto& one : cases) {
    const std::filesystem::path place = folder.path() / std::to_string(number++);
    std::filesystem::create_directory(place);
    KeeperOrder order = simple_order(folder.path(), one.command);
    if (!one.directory.empty()) order.working_directory = one.directory;
    LiveKeeper keeper(place, order);
    if (one.command[0] == "./script") {
      keeper.greet();
      keeper.hear("state ready");
      keeper.say("go");
    }
    const ExitRecord record = keeper.record();
    EXPECT_EQ(record.outcome, KeeperOutcome::kReturned);
    EXPECT_THAT(record.cause, HasSubstr(one.reason));
  }
}

TEST(Keeper, AnOrderThatCannotBeReadIsReturned) {
  TemporaryFolder folder;
  KeeperOrder order = simple_order(folder.path(), {"true"});
  order.working_directory = "relative";
  LiveKeeper keeper(folder.path(), order);
  const ExitRecord record = keeper.record();
  EXPECT_EQ(record.outcome, KeeperOutcome::kReturned);
  EXPECT_THAT(record.cause, HasSubstr("'working_directory' is not an absolute path"));
}

TEST(Keeper, StopsWithTheSignalAndKillsAfterTheGrace) {
  const std::string word = unique_sleep();
  {  // leaves by itself when told
    TemporaryFolder folder;
    LiveKeeper keeper(folder.path(),
                      simple_order(folder.path(), shell("trap 'echo saved; exit 0' TERM; "
                                                        "echo up; while :; do sleep 0.01; done")));
    keeper.start();
    ASSERT_TRUE(eventually([&] { return keeper.log() == "up\n"; }));
    keeper.say("stop 9");
    const ExitRecord record = keeper.record();
    EXPECT_EQ(record.outcome, KeeperOutcome::kStopped);
    EXPECT_EQ(record.cause, "it was told to stop");
    EXPECT_THAT(keeper.log(), testing::EndsWith("saved\n"));
  }
  {  // does not care
    TemporaryFolder folder;
    LiveKeeper keeper(folder.path(),
                      simple_order(folder.path(), shell("trap '' TERM; echo up; sleep " + word)));
    keeper.start();
    ASSERT_TRUE(eventually([&] { return keeper.log() == "up\n"; }));
    keeper.say("stop 0.2");
    const ExitRecord record = keeper.record();
    EXPECT_EQ(record.outcome, KeeperOutcome::kStopped);
    EXPECT_EQ(record.exit_code, 128 + SIGKILL);
    EXPECT_GE(record.seconds, 0.2);
    EXPECT_EQ(processes_with(word), 0);
  }
}

TEST(Keeper, AStoppedProcessCanStillBeStopped) {
  TemporaryFolder folder;
  LiveKeeper keeper(folder.path(),
                    simple_order(folder.path(), shell("trap 'echo saved; exit 0' TERM; echo up; "
                                                      "while :; do sleep 0.01; done")));
  keeper.start();
  ASSERT_TRUE(eventually([&] { return keeper.log() == "up\n"; }));
  const std::vector<pid_t> ranks = descendants(keeper.keeper());
  ASSERT_FALSE(ranks.empty());
  signal_one(ranks[0], SIGSTOP);
  usleep(50'000);
  keeper.say("beat");  // it stands still and keeps its GPUs: nobody's business
  keeper.say("stop 9");
  EXPECT_EQ(keeper.record().outcome, KeeperOutcome::kStopped);
  EXPECT_THAT(keeper.log(), testing::EndsWith("saved\n"));
}

TEST(Keeper, WhatRunsAwayIsFound) {
  const std::string word = unique_sleep();
  TemporaryFolder folder;
  // A daemon twice removed, in a session of its own, without environment; and what stays behind.
  LiveKeeper keeper(
      folder.path(),
      simple_order(folder.path(), shell(fmt::format("(env -i setsid /bin/sh -c 'trap \"\" TERM; "
                                                    "sleep {0} & sleep {0}' &) ; sleep {0} & "
                                                    "echo up; exit 0",
                                                    word))));
  keeper.greet();
  keeper.hear("state ready");
  keeper.say("go");
  EXPECT_EQ(keeper.record().outcome, KeeperOutcome::kFinished);
  EXPECT_EQ(processes_with(word), 0);
}

TEST(Keeper, ATreeThatGrowsWhileItIsKilledIsKilled) {
  const std::string word = unique_sleep();
  TemporaryFolder folder;
  folder.write("grow.sh", fmt::format("trap '' TERM\nwhile :; do (setsid sleep {} &); "
                                      "sleep 0.001; done\n",
                                      word));
  LiveKeeper keeper(folder.path(), simple_order(folder.path(), {"sh", "grow.sh"}));
  keeper.start();
  ASSERT_TRUE(eventually([&] { return processes_with(word) > 10; }));
  keeper.say("kill");
  EXPECT_EQ(keeper.record().outcome, KeeperOutcome::kStopped);
  EXPECT_EQ(processes_with(word), 0);
}

TEST(Keeper, AFailedRankTakesTheOthersWithIt) {
  const std::string word = unique_sleep();
  TemporaryFolder folder;
  KeeperOrder order =
      simple_order(folder.path(), shell("test $RANK = 1 && exit 9; exec sleep " + word));
  order.world_size = 3;
  order.ranks = {{0, 0, {}, {}}, {1, 1, {}, {}}, {2, 2, {}, {}}};
  LiveKeeper keeper(folder.path(), order);
  keeper.greet();
  keeper.hear("state ready");
  keeper.say("go");
  const ExitRecord record = keeper.record();
  EXPECT_EQ(record.outcome, KeeperOutcome::kFailed);
  EXPECT_EQ(record.exit_code, 9);
  EXPECT_EQ(record.cause, "rank 1 ended with exit code 9");
  EXPECT_EQ(record.ranks.size(), 3U);
  EXPECT_EQ(processes_with(word), 0);
}

TEST(Keeper, AStopBeforeGoReturnsIt) {
  TemporaryFolder folder;
  LiveKeeper keeper(folder.path(), simple_order(folder.path(), shell("touch here")));
  keeper.greet();
  keeper.hear("state ready");
  keeper.say("stop 5");
  EXPECT_EQ(keeper.record().outcome, KeeperOutcome::kReturned);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "here"));
}

TEST(Keeper, WithoutGoItGivesUp) {
  TemporaryFolder folder;
  KeeperOrder order = simple_order(folder.path(), shell("touch here"));
  order.prepare_seconds = 0.1;
  LiveKeeper keeper(folder.path(), order);
  const ExitRecord record = keeper.record();
  EXPECT_EQ(record.outcome, KeeperOutcome::kReturned);
  EXPECT_EQ(record.cause, "the order to go did not come");
}

TEST(Keeper, LogsAreRotated) {
  TemporaryFolder folder;
  KeeperOrder order =
      simple_order(folder.path(),
                   shell("i=0; while [ $i -lt 2000 ]; do echo line $i of many; i=$((i+1)); done"));
  order.log_bytes = 4096;
  order.log_files = 3;
  LiveKeeper keeper(folder.path(), order);
  keeper.greet();
  keeper.hear("state ready");
  keeper.say("go");
  keeper.record();
  EXPECT_THAT(keeper.log(), testing::EndsWith("line 1999 of many\n"));
  for (const char* name : {"rank-0.log", "rank-0.log.1", "rank-0.log.2"}) {
    EXPECT_LE(std::filesystem::file_size(folder.path() / name), 4096U) << name;
  }
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "rank-0.log.3"));
}

}  // namespace
}  // namespace muster
