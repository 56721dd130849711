#include "workload/byte_input.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"
#include "workload/byte_output.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

// Long and not too regular, so that packing takes several steps.
std::string long_text() {
  std::string text;
  for (int i = 0; i < 200000; ++i) text += std::to_string(i * 7919 % 100003) + "\n";
  return text;
}

class ByteInputTest : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    auto output = create_bytes(path(name));
    ASSERT_TRUE(output) << output.error().message;
    const Status written = (*output)->write(text);
    ASSERT_TRUE(written) << written.error().message;
    const Status finished = (*output)->finish();
    ASSERT_TRUE(finished) << finished.error().message;
  }

  TemporaryFolder folder_;
};

TEST_F(ByteInputTest, PackedFilesReadLikePlainOnes) {
  const std::string text = long_text();
  for (const std::string name : {"a.csv", "a.csv.gz", "a.csv.zst"}) {
    write(name, text);
    const auto read = read_whole(path(name));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, text) << name;
  }
  EXPECT_LT(folder_.read("a.csv.gz").size(), text.size() / 2);
  EXPECT_LT(folder_.read("a.csv.zst").size(), text.size() / 2);
}

TEST_F(ByteInputTest, PackingIsRecognisedByContentNotByName) {
  write("a.gz", "hello");
  folder_.write("renamed.csv", folder_.read("a.gz"));
  const auto read = read_whole(path("renamed.csv"));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, "hello");
}

TEST_F(ByteInputTest, MembersOneAfterAnotherAreOneText) {
  for (const std::string ending : {"gz", "zst"}) {
    write("one." + ending, "one\n");
    write("two." + ending, "two\n");
    folder_.write("both", folder_.read("one." + ending) + folder_.read("two." + ending));
    const auto read = read_whole(path("both"));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, "one\ntwo\n") << ending;
  }
}

TEST_F(ByteInputTest, CutShortOrDamagedDataIsAnError) {
  for (const std::string ending : {"gz", "zst"}) {
    write("whole." + ending, long_text());
    std::string packed = folder_.read("whole." + ending);
    folder_.write("short", packed.substr(0, packed.size() / 2));
    const auto cut = read_whole(path("short"));
    ASSERT_FALSE(cut) << ending;
    EXPECT_THAT(cut.error().message, HasSubstr("cut short"));
    packed.replace(packed.size() / 2, 64, 64, '\xff');
    folder_.write("damaged", packed);
    const auto damaged = read_whole(path("damaged"));
    ASSERT_FALSE(damaged) << ending;
    EXPECT_THAT(damaged.error().message, HasSubstr("damaged"));
  }
}

TEST_F(ByteInputTest, AnUnfinishedOutputLeavesNothing) {
  {
    auto output = create_bytes(path("half.csv"));
    ASSERT_TRUE(output) << output.error().message;
    ASSERT_TRUE((*output)->write("half of it"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(ByteInputTest, AFullDiskIsAnError) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "needs /dev/full";
  auto output = create_bytes("/dev/full");
  ASSERT_TRUE(output) << output.error().message;
  const Status written = (*output)->write("text");
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message, HasSubstr("No space left"));
}

TEST_F(ByteInputTest, WhatCannotBeWrittenIsAnError) {
  const auto output = create_bytes(path("no/such/folder.csv"));
  ASSERT_FALSE(output);
  EXPECT_THAT(output.error().message, HasSubstr("cannot write"));
}

}  // namespace
}  // namespace muster
