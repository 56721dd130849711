// The store on a real disk: equal to the one in memory, and what was acknowledged survives.
#include "daemon/sqlite_store.h"

#include <fstream>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/memory_store.h"
#include "daemon/migrations.h"
#include "daemon/store_fixture.h"
#include "support/temporary_folder.h"

namespace muster {
namespace {

using testing::HasSubstr;

std::unique_ptr<SqliteStore> open_store(const std::filesystem::path& folder) {
  Result<std::unique_ptr<SqliteStore>> store = SqliteStore::open(folder);
  if (!store) {
    ADD_FAILURE() << store.error().message;
    return nullptr;
  }
  return std::move(*store);
}

std::string refusal(const std::filesystem::path& folder) {
  const Result<std::unique_ptr<SqliteStore>> store = SqliteStore::open(folder);
  if (store) ADD_FAILURE() << "it was opened";
  return store ? "" : store.error().message;
}

TEST(SqliteStore, HoldsWhatTheOneInMemoryHolds) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    Random random(seed, "store");
    TemporaryFolder folder;
    auto disk = std::make_shared<MemoryDisk>();
    auto expected = std::make_unique<MemoryStore>(disk);
    auto store = open_store(folder.path() / "state");
    ASSERT_TRUE(store);
    std::int64_t next_decision = 0;
    for (int turn = 0; turn < 12; ++turn) {
      std::vector<Batch> group;
      do group.push_back(random_batch(random, next_decision));
      while (random.chance(0.3));
      ASSERT_TRUE(expected->commit(group));
      const Status committed = store->commit(group);
      ASSERT_TRUE(committed) << committed.error().message;
      if (random.chance(0.3)) {
        store.reset();
        store = open_store(folder.path() / "state");
        ASSERT_TRUE(store);
        expected = std::make_unique<MemoryStore>(disk);
      }
      const Result<StoredWorld> world = store->load();
      ASSERT_TRUE(world) << world.error().message;
      EXPECT_EQ(*world, *expected->load()) << "seed " << seed;
      for (std::uint32_t job = 0; job < 6; ++job) {
        EXPECT_EQ(*store->decisions(JobId{job}), *expected->decisions(JobId{job}));
      }
    }
  }
}

// A daemon that commits numbered batches and tells each acknowledged number through a pipe; it is
// killed at its `crash_at`-th statement.
int acknowledged_before_kill(const std::filesystem::path& folder, int crash_at, int batches,
                             bool& killed) {
  int ends[2] = {-1, -1};
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    int statements = 0;
    Result<std::unique_ptr<SqliteStore>> store = SqliteStore::open(folder, [&] {
      if (++statements == crash_at) raise(SIGKILL);
    });
    if (!store) _exit(3);
    for (int n = 0; n < batches; ++n) {
      if (!commit_one(**store, numbered_batch(n))) _exit(4);
      if (write(ends[1], &n, sizeof n) != sizeof n) _exit(5);
    }
    _exit(0);
  }
  close(ends[1]);
  int acknowledged = -1;
  int n = 0;
  while (read(ends[0], &n, sizeof n) == sizeof n) acknowledged = n;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  killed = WIFSIGNALED(status);
  EXPECT_TRUE(killed || status == 0) << status;
  return acknowledged;
}

TEST(SqliteStore, SurvivesAKillAtEveryStatement) {
  constexpr int kBatches = 4;
  bool killed = true;
  int crash_at = 0;
  while (killed) {
    TemporaryFolder folder;
    const int acknowledged =
        acknowledged_before_kill(folder.path() / "state", ++crash_at, kBatches, killed);
    auto store = open_store(folder.path() / "state");
    ASSERT_TRUE(store);
    const int found = number_in(*store->load());
    EXPECT_GE(found, acknowledged) << "killed at statement " << crash_at;
    EXPECT_LE(found, acknowledged + 1) << "killed at statement " << crash_at;
    ASSERT_TRUE(commit_one(*store, numbered_batch(99)));
    EXPECT_EQ(number_in(*store->load()), 99);
  }
  EXPECT_GT(crash_at, kBatches * 5);  // each batch is five statements
}

TEST(SqliteStore, SurvivesKillsAtAnyMoment) {
  TemporaryFolder folder;
  Random random(7, "kills");
  int least = -1;
  for (int round = 0; round < 15; ++round) {
    int ends[2] = {-1, -1};
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      Result<std::unique_ptr<SqliteStore>> store = SqliteStore::open(folder.path() / "state");
      if (!store) _exit(3);
      for (int n = least + 1;; ++n) {
        if (!commit_one(**store, numbered_batch(n))) _exit(4);
        if (write(ends[1], &n, sizeof n) != sizeof n) _exit(5);
      }
    }
    close(ends[1]);
    usleep(static_cast<useconds_t>(random.below(20'000)));
    kill(child, SIGKILL);
    int n = 0;
    while (read(ends[0], &n, sizeof n) == sizeof n) least = n;
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << status;
    auto store = open_store(folder.path() / "state");
    ASSERT_TRUE(store);
    const int found = number_in(*store->load());
    EXPECT_GE(found, least);
    EXPECT_LE(found, least + 1);
    least = found;
  }
}

TEST(SqliteStore, AFullDiskTakesNothingAndGoesOnAfterwards) {
  TemporaryFolder folder;
  auto store = open_store(folder.path());
  ASSERT_TRUE(store);
  ASSERT_TRUE(commit_one(*store, numbered_batch(1)));
  const StoredWorld before = *store->load();

  struct rlimit old {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  signal(SIGXFSZ, SIG_IGN);
  struct rlimit small = old;
  small.rlim_cur = 256 << 10;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  Batch large = numbered_batch(2);
  large.jobs[0].description.assign(1 << 20, 'x');
  const Status full = commit_one(*store, large);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
  signal(SIGXFSZ, SIG_DFL);

  ASSERT_FALSE(full);
  EXPECT_THAT(full.error().message, HasSubstr("state.db: "));
  EXPECT_THAT(full.error().message, HasSubstr("nothing was changed"));
  EXPECT_EQ(*store->load(), before);
  EXPECT_TRUE(commit_one(*store, large));
  EXPECT_EQ(number_in(*store->load()), 2);
}

TEST(SqliteStore, ASecondDaemonIsRefusedByName) {
  TemporaryFolder folder;
  auto store = open_store(folder.path() / "deep" / "state");
  ASSERT_TRUE(store);
  EXPECT_THAT(refusal(folder.path() / "deep" / "state"),
              HasSubstr(fmt::format("is in use by the daemon with process id {}; stop that one "
                                    "first, or name another state folder",
                                    getpid())));
  store.reset();
  EXPECT_TRUE(open_store(folder.path() / "deep" / "state"));
}

TEST(SqliteStore, ALaterVersionIsRefused) {
  TemporaryFolder folder;
  ASSERT_TRUE(open_store(folder.path()));
  {
    auto database = Database::open(folder.path() / "state.db");
    ASSERT_TRUE(database);
    ASSERT_TRUE((*database)->execute("PRAGMA user_version = 7"));
  }
  EXPECT_THAT(refusal(folder.path()),
              HasSubstr("written by a later Muster (version 7 of the store, this one knows up to "
                        "3); start that one, or a newer one"));
}

TEST(SqliteStore, EarlierVersionsAreBroughtUp) {
  for (const std::size_t version : {1U, 2U}) {
    SCOPED_TRACE(version);
    TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "state.db";
    const std::string metrics = version >= 2 ? ", 'loss=3'" : "";
    {
      auto database = Database::open(file);
      ASSERT_TRUE(database);
      ASSERT_TRUE(migrate(**database, file, store_migrations().first(version)));
      ASSERT_TRUE((*database)->execute(fmt::format(
          "INSERT INTO jobs VALUES (3, 'eve', 'old', '', 'queued', '', '{{}}', 1, 2, 3, 4, 5, 6, "
          "7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17{})",
          metrics)));
    }
    auto store = open_store(folder.path());
    ASSERT_TRUE(store);
    const auto world = store->load();
    ASSERT_TRUE(world);
    ASSERT_EQ(world->jobs.size(), 1U);
    const StoredJob& job = world->jobs[0];
    EXPECT_EQ(job.name, "old");
    EXPECT_EQ(job.resizes, 17);
    EXPECT_EQ(job.metrics, version >= 2 ? "loss=3" : "");
    EXPECT_EQ(job.failed_starts, 0);
    EXPECT_EQ(job.paused_until, 0);
    EXPECT_FALSE(job.opportunistic);
    EXPECT_EQ(job.cpus_per_gpu, 0);
    EXPECT_EQ(job.memory_per_gpu, 0);
    EXPECT_LT(job.held_before, 0) << "it is not known how long earlier launches held GPUs";
    EXPECT_LT(job.gpu_seconds_before, 0);
    EXPECT_EQ(job.as_of, 0);
    EXPECT_EQ(job.rate, 0);
    EXPECT_EQ(job.duration, 0);
    EXPECT_EQ(job.estimate, 0);
  }
}

TEST(SqliteStore, AnotherProgramsFileIsRefused) {
  TemporaryFolder folder;
  {
    auto database = Database::open(folder.path() / "state.db");
    ASSERT_TRUE((*database)->execute("CREATE TABLE holidays(day TEXT)"));
  }
  EXPECT_THAT(refusal(folder.path()), HasSubstr("a database of another program"));
}

TEST(SqliteStore, ADamagedFileIsRefusedWithTheRemedy) {
  TemporaryFolder folder;
  folder.write("no database/state.db", std::string(5000, 'x'));
  EXPECT_THAT(refusal(folder.path() / "no database"), HasSubstr("the file is damaged"));

  const std::filesystem::path state = folder.path() / "state";
  {
    auto store = open_store(state);
    Random random(1, "damage");
    Batch batch;
    for (std::uint32_t id = 0; id < 300; ++id) batch.jobs.push_back(random_job(JobId{id}, random));
    ASSERT_TRUE(commit_one(*store, batch));
  }
  std::fstream file(state / "state.db", std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(3L * 4096);
  for (int i = 0; i < 5; ++i) file << std::string(4096, '\x5a');
  file.close();
  EXPECT_THAT(refusal(state), HasSubstr("the file is damaged"));
}

TEST(SqliteStore, ValuesThatMakeNoSenseAreNamed) {
  TemporaryFolder folder;
  auto store = open_store(folder.path());
  ASSERT_TRUE(commit_one(*store, numbered_batch(1)));
  {
    auto database = Database::open(folder.path() / "state.db");
    ASSERT_TRUE((*database)->execute("UPDATE runs SET state = 'dancing'"));
  }
  const Result<StoredWorld> world = store->load();
  ASSERT_FALSE(world);
  EXPECT_THAT(world.error().message,
              HasSubstr("state.db: table 'runs': column 'state': 'dancing'"));
}

TEST(SqliteStore, AFolderThatCannotBeMadeIsNamed) {
  EXPECT_THAT(refusal("/proc/no/such"), HasSubstr("cannot make folder /proc/no/such"));
}

TEST(Migrations, BringOlderVersionsUpStepByStepAndKeepThemOnFailure) {
  TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "some.db";
  auto opened = Database::open(file);
  ASSERT_TRUE(opened);
  Database& database = **opened;
  const std::string_view steps[] = {
      "CREATE TABLE t(a INTEGER); INSERT INTO t VALUES (1)",
      "ALTER TABLE t ADD COLUMN b INTEGER; UPDATE t SET b = a + 1",
      "INSERT INTO t VALUES (5, 6); CREATE TABLE t(twice INTEGER)",
  };
  const std::span all(steps);
  ASSERT_TRUE(migrate(database, file, all.first(1)));
  EXPECT_EQ(*database.number("PRAGMA user_version"), 1);
  ASSERT_TRUE(migrate(database, file, all.first(2)));
  EXPECT_EQ(*database.number("SELECT b FROM t"), 2);
  ASSERT_TRUE(migrate(database, file, all.first(2)));  // nothing to do

  const Status failed = migrate(database, file, all);
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message, HasSubstr("while bringing the store to version 3"));
  EXPECT_EQ(*database.number("PRAGMA user_version"), 2);
  EXPECT_EQ(*database.number("SELECT count(*) FROM t"), 1);
  EXPECT_FALSE(migrate(database, file, all.first(1)));  // a later version
}

}  // namespace
}  // namespace muster
