// Output over files that are rotated reads as one stream of bytes.
#include "daemon/rank_log.h"

#include <atomic>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>

#include "agent/keeper/log_file.h"
#include "support/temporary_folder.h"

namespace muster {
namespace {

std::string lines_of(int first, int last) {
  std::string text;
  for (int i = first; i < last; ++i) text += "line " + std::to_string(i) + "\n";
  return text;
}

class RankLog : public ::testing::Test {
 protected:
  std::string path() const { return (folder_.path() / "rank-0.log").string(); }
  // From `offset` to the end, in small parts; `gone`: bytes that were missing.
  std::string read_on(std::int64_t& offset, std::int64_t& gone) const {
    std::string text;
    while (true) {
      const LogPart part = read_rank_log(path(), offset, 777);
      gone += part.begin - offset;
      offset = part.end();
      if (part.text.empty()) return text;
      text += part.text;
    }
  }
  TemporaryFolder folder_;
};

TEST_F(RankLog, IsOneStreamWhateverIsRotated) {
  auto log = LogFile::open(path(), 4096, 3);
  ASSERT_TRUE(log);
  std::string all;
  std::int64_t offset = 0;
  std::int64_t gone = 0;
  std::string followed;
  for (int i = 0; i < 100; ++i) {
    const std::string text = lines_of(100 * i, 100 * i + 100);
    log->write(text);
    all += text;
    followed += read_on(offset, gone);
  }
  EXPECT_EQ(gone, 0);
  EXPECT_EQ(followed, all);
  // From the beginning only the end is there, and it is said how much is not.
  offset = 0;
  const std::string rest = read_on(offset, gone);
  EXPECT_EQ(offset, static_cast<std::int64_t>(all.size()));
  EXPECT_EQ(gone + rest.size(), all.size());
  EXPECT_GT(rest.size(), 2 * 4000);
  EXPECT_TRUE(all.ends_with(rest));
  // A keeper of the same launch that begins again goes on where the other ended.
  auto again = LogFile::open(path(), 4096, 3);
  ASSERT_TRUE(again);
  again->write(lines_of(0, 2000));
  std::int64_t more_gone = 0;
  EXPECT_TRUE(lines_of(0, 2000).ends_with(read_on(offset, more_gone)));
  EXPECT_EQ(offset, static_cast<std::int64_t>(all.size() + lines_of(0, 2000).size()));
}

TEST_F(RankLog, WithoutOlderFilesTheEndIsKept) {
  auto log = LogFile::open(path(), 2048, 1);
  ASSERT_TRUE(log);
  const std::string all = lines_of(0, 1000);
  log->write(all);
  std::int64_t offset = 0;
  std::int64_t gone = 0;
  const std::string rest = read_on(offset, gone);
  EXPECT_GT(gone, 0);
  EXPECT_EQ(gone + rest.size(), all.size());
  EXPECT_TRUE(all.ends_with(rest));
}

TEST_F(RankLog, IsReadWhileItIsWritten) {
  auto log = LogFile::open(path(), 4096, 4);
  ASSERT_TRUE(log);
  constexpr int kLines = 40'000;
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (int i = 0; i < kLines; i += 10) log->write(lines_of(i, i + 10));
    done = true;
  });
  const std::string all = lines_of(0, kLines);
  std::int64_t offset = 0;
  bool wrong = false;
  while (true) {
    const bool last = done;
    const LogPart part = read_rank_log(path(), offset, 3000);
    wrong = wrong || part.begin < offset ||
            all.compare(static_cast<std::size_t>(part.begin), part.text.size(), part.text) != 0;
    offset = part.end();
    if (wrong || (last && part.text.empty())) break;
  }
  writer.join();
  EXPECT_FALSE(wrong) << "at " << offset;
  EXPECT_EQ(offset, static_cast<std::int64_t>(all.size()));
}

TEST_F(RankLog, NothingIsThereYet) {
  EXPECT_EQ(read_rank_log(path(), 5, 10).text, "");
  EXPECT_EQ(read_rank_log(path(), 5, 10).begin, 5);
}

}  // namespace
}  // namespace muster
