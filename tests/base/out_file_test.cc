#include "base/out_file.h"

#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace muster {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class ReplaceFile : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }
  TemporaryFolder folder_;
};

TEST_F(ReplaceFile, APlainFileIsReplacedWholeAndKeepsItsPermissions) {
  folder_.write("page.html", "old and longer");
  ASSERT_EQ(::chmod(path("page.html").c_str(), 0600), 0);
  ASSERT_TRUE(replace_file(path("page.html"), "new"));
  EXPECT_EQ(folder_.read("page.html"), "new");
  struct stat about {};
  ASSERT_EQ(::stat(path("page.html").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0600U);
  EXPECT_EQ(entries(), 1U);
}

TEST_F(ReplaceFile, WhatWasNotClosedLeavesTheOldFile) {
  folder_.write("page.html", "old");
  {
    auto file = OutFile::replace(path("page.html"));
    ASSERT_TRUE(file);
    file->write("half of it");
    file->flush();
  }
  EXPECT_EQ(folder_.read("page.html"), "old");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(ReplaceFile, ALinkStaysAndItsFileIsReplaced) {
  folder_.write("real.html", "old");
  fs::create_symlink("real.html", path("link.html"));
  fs::create_symlink("none.html", path("dangling.html"));
  ASSERT_TRUE(replace_file(path("link.html"), "new"));
  ASSERT_TRUE(replace_file(path("dangling.html"), "made"));
  EXPECT_TRUE(fs::is_symlink(path("link.html")));
  EXPECT_TRUE(fs::is_symlink(path("dangling.html")));
  EXPECT_EQ(folder_.read("real.html"), "new");
  EXPECT_EQ(folder_.read("none.html"), "made");
}

TEST_F(ReplaceFile, LinksInACircleAndFoldersAreRefused) {
  fs::create_symlink("b", path("a"));
  fs::create_symlink("a", path("b"));
  const Status circle = replace_file(path("a"), "text");
  ASSERT_FALSE(circle);
  EXPECT_THAT(circle.error().message, HasSubstr("cannot write"));
  fs::create_directory(path("folder"));
  const Status folder = replace_file(path("folder"), "text");
  ASSERT_FALSE(folder);
  EXPECT_THAT(folder.error().message, HasSubstr("it is a folder; name a file"));
  EXPECT_TRUE(fs::is_directory(path("folder")));
}

TEST_F(ReplaceFile, ADeviceIsWrittenToThroughALinkToo) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "needs /dev/full";
  fs::create_symlink("/dev/full", path("full"));
  const Status written = replace_file(path("full"), "text");
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message, HasSubstr("No space left"));
  EXPECT_TRUE(fs::is_symlink(path("full")));
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST_F(ReplaceFile, APipeIsWrittenTo) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  std::string came;
  std::thread reader([&] {
    std::ifstream in(path("pipe"));
    std::getline(in, came);
  });
  const Status written = replace_file(path("pipe"), "through the pipe\n");
  reader.join();
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(came, "through the pipe");
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
}

TEST_F(ReplaceFile, AFailureNamesThePathAsGiven) {
  const Status written = replace_file(path("no/such/page.html"), "text");
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message,
              HasSubstr("cannot write " + path("no/such/page.html") + ":"));
}

}  // namespace
}  // namespace muster
