// No orphan, whatever dies.
#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/keeper/live_keeper.h"
#include "agent/keeper/process_tree.h"
#include "base/out_file.h"
#include "base/random.h"

namespace muster {
namespace {

using testing::HasSubstr;

// A rank, its child, and a grandchild that has left for a session of its own.
std::vector<std::string> family(const std::string& word) {
  return {"sh", "-c",
          fmt::format("trap '' TERM; (setsid sleep {0} &); sleep {0} & sleep {0}", word)};
}

TEST(KeeperDeath, AKilledKeeperLeavesNothingBehind) {
  const std::string word = unique_sleep();
  TemporaryFolder folder;
  LiveKeeper keeper(folder.path(), simple_order(folder.path(), family(word)));
  keeper.start();
  ASSERT_TRUE(eventually([&] { return processes_with(word) == 3; }));
  signal_one(keeper.keeper(), SIGKILL);
  const ExitRecord record = keeper.record();
  EXPECT_EQ(record.outcome, KeeperOutcome::kStopped);
  EXPECT_EQ(record.cause, "its keeper was killed");
  EXPECT_EQ(record.job, 7U);
  EXPECT_EQ(processes_with(word), 0);
  EXPECT_TRUE(keeper.ends());
}

TEST(KeeperDeath, AKilledGuardLeavesNothingBehind) {
  const std::string word = unique_sleep();
  TemporaryFolder folder;
  LiveKeeper keeper(folder.path(), simple_order(folder.path(), family(word)));
  keeper.start();
  ASSERT_TRUE(eventually([&] { return processes_with(word) == 3; }));
  const pid_t inner = keeper.keeper();
  signal_one(inner, SIGUSR1);  // anybody may send that: it means nothing while the guard lives
  usleep(20'000);
  EXPECT_EQ(processes_with(word), 3);
  signal_one(keeper.guard(), SIGKILL);
  const ExitRecord record = keeper.record();
  EXPECT_EQ(record.outcome, KeeperOutcome::kStopped);
  EXPECT_EQ(record.cause, "its guard was killed");
  EXPECT_EQ(processes_with(word), 0);
  EXPECT_TRUE(eventually([&] { return kill(inner, 0) != 0; }));
}

TEST(KeeperDeath, WhenBothAreKilledTheMarkFindsTheRest) {
  const std::string word = unique_sleep();
  TemporaryFolder folder;
  KeeperOrder order = simple_order(folder.path(), family(word));
  LiveKeeper keeper(folder.path(), order);
  keeper.start();
  ASSERT_TRUE(eventually([&] { return processes_with(word) == 3; }));
  const pid_t inner = keeper.keeper();
  signal_one(keeper.guard(), SIGSTOP);  // so that neither can act on the other's death
  signal_one(inner, SIGSTOP);
  signal_one(inner, SIGKILL);
  signal_one(keeper.guard(), SIGKILL);
  EXPECT_TRUE(keeper.ends());
  kill_marked("MUSTER_RUN_FOLDER", std::filesystem::canonical(folder.path()).string());
  EXPECT_TRUE(eventually([&] { return processes_with(word) == 0; }));
}

TEST(KeeperDeath, RandomKillsOfKeeperGuardAndJobs) {
  Random random(5, "keeper deaths");
  for (int round = 0; round < 25; ++round) {
    const std::string word = unique_sleep();
    TemporaryFolder folder;
    LiveKeeper keeper(folder.path(), simple_order(folder.path(), family(word)));
    keeper.greet();
    keeper.hear("state ready");
    if (random.chance(0.8)) keeper.say("go");
    usleep(static_cast<useconds_t>(random.below(20'000)));
    std::vector<pid_t> all = descendants(keeper.guard());
    all.push_back(keeper.guard());
    signal_one(all[random.below(all.size())], SIGKILL);
    if (random.chance(0.3)) keeper.hang_up();
    usleep(static_cast<useconds_t>(random.below(5'000)));
    // A killed helper of the job is the job's own affair; end what goes on.
    for (const pid_t process : descendants(keeper.keeper())) signal_one(process, SIGKILL);
    const ExitRecord record = keeper.record();
    EXPECT_EQ(record.launch, 3U) << round;
    EXPECT_TRUE(eventually([&] { return processes_with(word) == 0; })) << round;
  }
}

TEST(KeeperDeath, TheFenceKillsAndContactPostponesIt) {
  const std::string word = unique_sleep();
  TemporaryFolder folder;
  KeeperOrder order = simple_order(folder.path(), family(word));
  order.fence_seconds = 0.5;
  LiveKeeper keeper(folder.path(), order);
  keeper.start();
  for (int i = 0; i < 8; ++i) {
    usleep(100'000);
    keeper.say("beat");
  }
  EXPECT_EQ(processes_with(word), 3);
  keeper.hang_up();
  const ExitRecord record = keeper.record();
  EXPECT_EQ(record.outcome, KeeperOutcome::kStopped);
  EXPECT_EQ(record.cause, "no contact for 0.5 seconds");
  EXPECT_EQ(processes_with(word), 0);
}

TEST(KeeperDeath, ItOutlivesThoseWhoStartedIt) {
  TemporaryFolder folder;
  const pid_t daemon = fork();
  if (daemon == 0) {
    const LiveKeeper started(folder.path(), simple_order(folder.path(), {"sleep", "0.3"}));
    raise(SIGKILL);
  }
  int status = 0;
  waitpid(daemon, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  LiveKeeper keeper(folder.path());
  keeper.start();
  keeper.hang_up();
  EXPECT_EQ(keeper.record().outcome, KeeperOutcome::kFinished);
}

TEST(KeeperDeath, AStrangerIsNotKilledWithTheLaunch) {
  const std::string word = unique_sleep();
  TemporaryFolder folder;
  const pid_t stranger = fork();
  if (stranger == 0) {
    execlp("sleep", "sleep", word.c_str(), nullptr);
    _exit(127);
  }
  LiveKeeper keeper(folder.path(), simple_order(folder.path(), family(word)));
  keeper.start();
  ASSERT_TRUE(eventually([&] { return processes_with(word) == 4; }));
  keeper.say("kill");
  keeper.record();
  EXPECT_EQ(processes_with(word), 1);
  signal_one(stranger, SIGKILL);
  waitpid(stranger, nullptr, 0);
}

TEST(KeeperDeath, AnOlderDaemonIsRefused) {
  TemporaryFolder folder;
  KeeperOrder order = simple_order(folder.path(), {"sleep", "30"});
  order.generation = 5;
  LiveKeeper keeper(folder.path(), order);
  keeper.greet(4);
  keeper.hear("refused generation 4: this launch belongs to 5");
  keeper.greet(6);
  keeper.hear("state ready");
  keeper.say("dance");
  keeper.hear("refused cannot read 'dance'");
  keeper.say("stop nan");
  keeper.hear("refused cannot read");
  keeper.greet(5);
  keeper.hear("refused generation 5: this launch belongs to 6");
}

TEST(KeeperDeath, AFullDiskKeepsNeitherJobNorRecordFromEnding) {
  TemporaryFolder folder;
  const std::filesystem::path small = folder.path() / "small";
  std::filesystem::create_directory(small);
  if (mount("none", small.c_str(), "tmpfs", 0, "size=128k") != 0) {
    GTEST_SKIP() << "no small disk can be mounted here";
  }
  {
    LiveKeeper keeper(
        small, simple_order(folder.path(), {"sh", "-c",
                                            "i=0; while [ $i -lt 9000 ]; do echo line $i of very "
                                            "many lines; i=$((i+1)); done; exit 4"}));
    keeper.start();
    const ExitRecord record = keeper.record();
    EXPECT_EQ(record.outcome, KeeperOutcome::kFailed);
    EXPECT_EQ(record.exit_code, 4);
    ASSERT_EQ(record.notes.size(), 1U);
    EXPECT_THAT(record.notes[0], HasSubstr("bytes of output were lost: the disk was full"));
    EXPECT_TRUE(keeper.ends());
  }
  umount(small.c_str());
}

TEST(KeeperDeath, ACgroupOfItsOwnWhereThereIsOne) {
  std::string root;
  for (const char* place : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
    if (std::filesystem::exists(std::string(place) + "/cgroup.procs") && access(place, W_OK) == 0) {
      root = place;
    }
  }
  if (root.empty()) GTEST_SKIP() << "no cgroup v2 that we may write to";
  const std::string word = unique_sleep();
  TemporaryFolder folder;
  KeeperOrder order = simple_order(folder.path(), family(word));
  order.job = 3'000'000'000U + static_cast<std::uint32_t>(getpid());
  order.cgroup = root;
  const std::string own = fmt::format("{}/muster-{}-{}", root, order.job, order.launch);
  LiveKeeper keeper(folder.path(), order);
  keeper.start();
  ASSERT_TRUE(eventually([&] { return processes_with(word) == 3; }));
  const Result<std::string> members = read_file(own + "/cgroup.procs");
  ASSERT_TRUE(members) << members.error().message;
  EXPECT_EQ(std::count(members->begin(), members->end(), '\n'), 4);
  keeper.say("kill");
  EXPECT_EQ(keeper.record().outcome, KeeperOutcome::kStopped);
  EXPECT_EQ(processes_with(word), 0);
  EXPECT_FALSE(std::filesystem::exists(own));
}

}  // namespace
}  // namespace muster
