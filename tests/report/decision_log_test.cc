#include "report/decision_log.h"

#include <cmath>
#include <filesystem>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "fake_run.h"
#include "support/temporary_folder.h"

namespace muster {
namespace {

struct Logged {
  Decision decision;
  GpuSet gpus;
};

bool same(const Decision& a, const Decision& b) {
  return a.time == b.time && a.job == b.job && a.other == b.other && a.gpus == b.gpus &&
         a.detail == b.detail && a.action == b.action && a.reason == b.reason;
}

void expect_back(const std::string& path, const std::vector<Logged>& log) {
  auto reader = DecisionReader::open(path);
  ASSERT_TRUE(reader) << reader.error().message;
  for (std::size_t i = 0; i < log.size(); ++i) {
    const Decision* found = reader->next();
    ASSERT_NE(found, nullptr) << i << ": "
                              << (reader->status() ? "" : reader->status().error().message);
    ASSERT_TRUE(same(*found, log[i].decision)) << i;
    ASSERT_EQ(reader->placement(), log[i].gpus) << i;
  }
  EXPECT_EQ(reader->next(), nullptr);
  EXPECT_TRUE(reader->status());
}

void write_log(const std::string& path, const std::vector<Logged>& log) {
  auto writer = DecisionWriter::create(path);
  ASSERT_TRUE(writer) << writer.error().message;
  for (const Logged& entry : log) {
    writer->write(entry.decision);
    if (!entry.gpus.empty()) writer->place(entry.gpus);
  }
  const Status closed = writer->close();
  ASSERT_TRUE(closed) << closed.error().message;
}

class Recorder final : public Observer {
 public:
  void on_decision(const Decision& decision) override { log.push_back({decision, {}}); }
  void on_placement(const Decision& /*decision*/, const GpuSet& gpus) override {
    log.back().gpus = gpus;
  }
  std::vector<Logged> log;
};

TEST(DecisionLog, GivesBackWhatARunDecided) {
  for (const bool whole : {true, false}) {
    TemporaryFolder folder;
    const std::string path = folder.path() / "decisions.bin";
    Symbols symbols;
    Recorder recorder;
    play({.jobs = 2000, .shortest_first = true, .refuse_every = 9, .whole_seconds = whole}, symbols,
         recorder);
    write_log(path, recorder.log);
    expect_back(path, recorder.log);
    const double size = static_cast<double>(std::filesystem::file_size(path));
    EXPECT_LT(size / static_cast<double>(recorder.log.size()), 8.0) << "whole seconds: " << whole;
  }
}

TEST(DecisionLog, KeepsExtremeValues) {
  TemporaryFolder folder;
  const std::string path = folder.path() / "decisions.bin";
  std::vector<Logged> log;
  constexpr auto kLeast = std::numeric_limits<std::int32_t>::min();
  constexpr auto kMost = std::numeric_limits<std::int32_t>::max();
  log.push_back(
      {{-5.5, kNoJob, JobId{0}, kLeast, kMost, Action::kNodeUp, Reason::kNodeReturned}, {}});
  log.push_back(
      {{-5.5, JobId{0xfffffffe}, JobId{0}, kMost, kLeast, Action::kStart, Reason::kGrouped}, {}});
  log.push_back({{1e300, JobId{0}, kNoJob, 0, 0, Action::kSubmit, Reason::kNone}, {}});
  log.push_back({{0, JobId{0}, kNoJob, 0, 0, Action::kSwitch, Reason::kPredictedBest}, {}});
  log.push_back(
      {{kNever, JobId{7}, JobId{0xfffffffe}, 1, -1, Action::kFail, Reason::kCrashed}, {}});
  log.push_back(
      {{9007199254740993.0, JobId{7}, kNoJob, 1, -1, Action::kBlock, Reason::kOutranked}, {}});
  GpuSet wide;
  wide.add(NodeId{4000000000U}, ~std::uint64_t{0});
  wide.add(NodeId{0}, 1);
  wide.add(NodeId{5}, std::uint64_t{1} << 63U);
  log.push_back(
      {{9007199254740993.0, JobId{7}, kNoJob, 1, -1, Action::kMove, Reason::kConsolidated}, wide});
  write_log(path, log);
  expect_back(path, log);
}

TEST(DecisionLog, GivesBackRandomRecordsAcrossBlocks) {
  TemporaryFolder folder;
  const std::string path = folder.path() / "decisions.bin";
  std::mt19937_64 random(3);
  std::vector<Logged> log;
  for (int i = 0; i < 100000; ++i) {
    Logged entry;
    entry.decision = {
        std::ldexp(static_cast<double>(random() >> 12U), static_cast<int>(random() % 80) - 60),
        JobId{static_cast<std::uint32_t>(random())},
        JobId{static_cast<std::uint32_t>(random())},
        static_cast<std::int32_t>(random()),
        static_cast<std::int32_t>(random()),
        static_cast<Action>(random() % 14),
        static_cast<Reason>(random() % 23)};
    log.push_back(entry);
  }
  write_log(path, log);
  expect_back(path, log);
}

TEST(DecisionLog, NoticesAnyCut) {
  TemporaryFolder folder;
  const std::string path = folder.path() / "decisions.bin";
  Symbols symbols;
  Recorder recorder;
  play({.jobs = 100}, symbols, recorder);
  write_log(path, recorder.log);
  const std::string whole = folder.read("decisions.bin");
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    const std::string cut = folder.write("cut.bin", whole.substr(0, size));
    auto reader = DecisionReader::open(cut);
    if (!reader) continue;
    while (reader->next() != nullptr) {
    }
    EXPECT_FALSE(reader->status()) << "cut at " << size;
  }
}

TEST(DecisionLog, NoticesAChangedByteAndNeverCrashes) {
  TemporaryFolder folder;
  const std::string path = folder.path() / "decisions.bin";
  Symbols symbols;
  Recorder recorder;
  play({.jobs = 50}, symbols, recorder);
  write_log(path, recorder.log);
  const std::string whole = folder.read("decisions.bin");
  for (std::size_t place = 0; place < whole.size(); place += 3) {
    std::string changed = whole;
    changed[place] = static_cast<char>(changed[place] ^ 0x41);
    auto reader = DecisionReader::open(folder.write("changed.bin", changed));
    if (!reader) continue;
    while (reader->next() != nullptr) {
    }
    EXPECT_FALSE(reader->status()) << "byte " << place;
  }
}

TEST(DecisionLog, RefusesForeignFilesAndOtherVersions) {
  TemporaryFolder folder;
  const auto foreign =
      DecisionReader::open(folder.write("a.bin", "PNG and more than sixteen bytes"));
  ASSERT_FALSE(foreign);
  EXPECT_NE(foreign.error().message.find("not a decision log"), std::string::npos);
  const auto newer =
      DecisionReader::open(folder.write("b.bin", std::string("MUSTERDL\x02\0\0\0\0\0\0\0", 16)));
  ASSERT_FALSE(newer);
  EXPECT_NE(newer.error().message.find("another version"), std::string::npos);
  EXPECT_FALSE(DecisionReader::open(folder.path() / "missing.bin"));
}

TEST(DecisionLog, BecomesCsv) {
  TemporaryFolder folder;
  const std::string path = folder.path() / "decisions.bin";
  GpuSet gpus;
  gpus.add(NodeId{2}, 0xF0);
  gpus.add(NodeId{3}, 0x1);
  write_log(path, {{{0.5, JobId{0}, kNoJob, 5, 0, Action::kSubmit, Reason::kArrived}, {}},
                   {{600, JobId{0}, JobId{9}, 5, -1, Action::kStart, Reason::kBackfilled}, gpus}});
  const std::string csv = folder.path() / "decisions.csv";
  ASSERT_TRUE(decisions_to_csv(path, csv));
  EXPECT_EQ(folder.read("decisions.csv"),
            "time_s,action,job,other,gpus,detail,reason,placement\n"
            "0.5,submit,0,,5,0,arrived,\n"
            "600,start,0,9,5,-1,backfilled,2:f0 3:1\n");
}

}  // namespace
}  // namespace muster
