// The parts of a keeper that need no processes: orders, records, outcomes, log files.
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/keeper/launch_cgroup.h"
#include "agent/keeper/launch_end.h"
#include "agent/keeper/live_keeper.h"
#include "agent/keeper/log_file.h"
#include "agent/keeper/rank.h"
#include "support/temporary_folder.h"

namespace muster {
namespace {

using testing::Contains;
using testing::HasSubstr;

TEST(KeeperOrder, IsReadAsItWasWritten) {
  KeeperOrder order =
      simple_order("/some where", {"python3", "train.py", "--name", "ä \"b\" $(c)"});
  order.generation = 12;
  order.ranks = {{4, 0, {0, 1}, {2, 3}}, {5, 1, {7}, {}}};
  order.world_size = 8;
  order.nodes = 4;
  order.environment = {{"A", "b=c\nd"}, {"PATH", "/bin"}};
  order.cgroup = "/sys/fs/cgroup/x";
  order.memory_bytes = 1LL << 40;
  order.cores = 2.5;
  order.fence_seconds = 12.5;
  const Result<KeeperOrder> again = parse_order(order_text(order));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, order);
}

// A plain folder stands for the cgroup that a kernel would fill with files.
TEST(LaunchCgroup, LimitsMemoryAndCores) {
  const TemporaryFolder parent;
  KeeperOrder order = simple_order("/tmp", {"true"});
  order.cgroup = parent.path();
  order.job = 3;
  order.launch = 2;
  order.memory_bytes = 5'000'000'000;
  order.cores = 2.5;
  const std::string own = parent.path() / "muster-3-2";
  std::filesystem::create_directory(own);
  std::ofstream(own + "/memory.max") << "";
  std::string note;
  const LaunchCgroup without(order, note);
  EXPECT_THAT(note, HasSubstr("no CPU limit: " + own + "/cpu.max: "));
  EXPECT_EQ(*read_file(own + "/memory.max"), "5000000000");
  std::ofstream(own + "/cpu.max") << "";
  note.clear();
  const LaunchCgroup both(order, note);
  EXPECT_EQ(note, "");
  EXPECT_EQ(*read_file(own + "/cpu.max"), "250000 100000");
}

TEST(KeeperOrder, RefusesWhatCannotBeCarriedOut) {
  const std::string good = order_text(simple_order("/tmp", {"true"}));
  const auto with = [&good](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  const std::pair<std::string, std::string> cases[] = {
      {"", "order: not JSON"},
      {"[]", "order: expected an object"},
      {with("\"version\": 1", "\"version\": 2"), "version 2; this keeper knows version 1"},
      {with("\"nodes\"", "\"knots\""), "unknown field 'knots'"},
      {with("\"nodes\": 1", "\"nodes\": 1.5"), "'nodes' is not a whole number"},
      {with("\"nodes\": 1", "\"nodes\": 0"), "'nodes' is 0; expected 1 to"},
      {with("\"stop_signal\": 15", "\"stop_signal\": 99"), "'stop_signal' is 99"},
      {with("\"PATH\"", "\"PA=TH\""), "'PA=TH' cannot be the name of a variable"},
      {with("\"PATH\"", "\"\""), "'' cannot be the name of a variable"},
      {with("\"/usr/bin:/bin\"", "\"a\\u0000b\""), "'PATH' is not text without zero bytes"},
      {with("\"true\"", "\"tr\\u0000ue\""), "'command' has a zero byte"},
      {with("\"true\"", "\"\""), "'command' begins with an empty name"},
      {with("\"true\"", ""), "'command' is not a list of a program"},
      {with("\"/tmp\"", "\"tmp\""), "'working_directory' is not an absolute path"},
      {with("\"rank\": 0", "\"rank\": \"0\""), "order: rank 0: 'rank' is not a whole number"},
      {with("\"gpus\": []", "\"gpus\": [-1]"), "'gpus' holds -1; expected 0 to 1023"},
  };
  for (const auto& [text, message] : cases) {
    const Result<KeeperOrder> order = parse_order(text);
    ASSERT_FALSE(order) << message;
    EXPECT_THAT(order.error().message, HasSubstr(message));
  }
}

TEST(KeeperRecord, IsReadAsItWasWritten) {
  ExitRecord record;
  record.job = 3;
  record.launch = 9;
  record.outcome = KeeperOutcome::kStopped;
  record.cause = "its lease ended";
  record.exit_code = 143;
  record.seconds = 1.25;
  record.step = 40;
  record.saved_step = 39;
  record.ranks = {{0, 0, 0}, {1, -1, 15}};
  record.notes = {"a note"};
  TemporaryFolder folder;
  Result<RecordFile> file = RecordFile::reserve(folder.path());
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->write(record));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "exit.json.new"));
  const std::string text = folder.read("exit.json");
  EXPECT_EQ(text, record_text(record));
  const Result<ExitRecord> again = parse_record(text);
  ASSERT_TRUE(again);
  EXPECT_EQ(record_text(*again), text);
  for (const char* broken : {"", "[]", "{\"job\": 1}", "{\"job\": -1}"}) {
    EXPECT_FALSE(parse_record(broken)) << broken;
  }
  EXPECT_FALSE(RecordFile::reserve("/no/such/folder"));
}

TEST(KeeperVerdict, SaysWhatTheEndMeans) {
  const std::vector<RankExit> well = {{0, 0, 0}, {1, 0, 0}};
  const std::vector<RankExit> bad = {{0, 0, 0}, {1, 9, 0}};
  const std::vector<RankExit> again = {{0, kStartMeAgain, 0}};
  const std::vector<RankExit> killed = {{0, -1, 15}};
  using enum KeeperOutcome;
  const struct {
    bool started, told, broke, left, done;
    std::vector<RankExit> ranks;
    KeeperOutcome outcome;
    int code;
  } cases[] = {
      {false, false, false, false, false, {}, kReturned, 0},
      {false, true, false, false, false, killed, kReturned, 143},
      {true, false, false, false, false, well, kFinished, 0},
      {true, false, false, false, false, bad, kFailed, 9},
      {true, false, true, false, false, bad, kFailed, 9},
      {true, false, true, true, false, bad, kFailed, 9},  // the others left because it broke
      {true, false, false, false, false, again, kStopped, 75},
      {true, true, false, false, false, well, kStopped, 0},  // saved and gone, perhaps
      {true, true, false, false, true, well, kFinished, 0},  // finished while it was being stopped
      {true, true, false, true, false, well, kStopped, 0},
      {true, true, false, false, false, killed, kStopped, 143},
      {true, true, false, false, true, killed, kStopped, 143},
      {true, false, false, false, false, killed, kFailed, 143},  // somebody else's signal
  };
  for (const auto& one : cases) {
    const LaunchEnd end{one.started, one.told, one.broke, one.left, one.done, one.ranks};
    EXPECT_EQ(outcome_of(end), one.outcome) << &one - cases;
    EXPECT_EQ(exit_code(end), one.code) << &one - cases;
  }
}

TEST(KeeperLog, KeepsTheLatestLinesInSmallFiles) {
  TemporaryFolder folder;
  const std::string path = (folder.path() / "out.log").string();
  {
    Result<LogFile> log = LogFile::open(path, 100, 3);
    ASSERT_TRUE(log);
    for (int i = 0; i < 100; ++i) log->write(fmt::format("line {:03}\n", i));
  }
  const std::string all =
      folder.read("out.log.2") + folder.read("out.log.1") + folder.read("out.log");
  EXPECT_THAT(all, testing::EndsWith("line 098\nline 099\n"));
  EXPECT_GT(all.size(), 150U);
  EXPECT_EQ(all.find('l'), 0U);
  EXPECT_FALSE(std::filesystem::exists(path + ".3"));
  Result<LogFile> again = LogFile::open(path, 100, 3);  // a later launch goes on
  again->write("more\n");
  EXPECT_THAT(folder.read("out.log"), testing::EndsWith("line 099\nmore\n"));
  {
    Result<LogFile> alone = LogFile::open((folder.path() / "alone").string(), 10, 1);
    alone->write("0123456789abcdefghijklm");  // no line end anywhere
    EXPECT_EQ(folder.read("alone"), "klm");
  }
  Result<LogFile> full = LogFile::open("/dev/full", 1000, 1);
  ASSERT_TRUE(full);
  full->write("12345");
  EXPECT_EQ(full->lost_bytes(), 5);
  EXPECT_FALSE(LogFile::open("/no/such/folder/log", 10, 1));
}

TEST(KeeperRank, MustersVariablesWinAndHostileOnesStayText) {
  KeeperOrder order = simple_order("/", {"true"});
  order.environment = {{"MUSTER_JOB_TOKEN", "mine"}, {"LD_PRELOAD", "x"}, {"A", "$(b)\n=c"}};
  LaunchPlace place;
  place.order = &order;
  place.token = "secret";
  const std::vector<std::string> variables = rank_environment(place, order.ranks[0]);
  EXPECT_THAT(variables, Contains("MUSTER_JOB_TOKEN=secret"));
  EXPECT_THAT(variables, Contains("A=$(b)\n=c"));
  EXPECT_THAT(variables, Contains("CUDA_VISIBLE_DEVICES="));
  EXPECT_EQ(std::count(variables.begin(), variables.end(), "MUSTER_JOB_TOKEN=mine"), 0);
}

}  // namespace
}  // namespace muster
