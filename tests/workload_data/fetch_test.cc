// Downloads from a local server that answers rightly, wrongly, slowly or not at all.
#include "workload/data/fetch.h"

#include <algorithm>
#include <memory>

#include <gtest/gtest.h>

#include "local_server.h"
#include "support/temporary_folder.h"
#include "workload/data/data_folder.h"
#include "workload/data/sha256.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

class Fetch : public testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = std::make_unique<LocalServer>(); }
  static void TearDownTestSuite() { server_.reset(); }
  void SetUp() override {
    if (!server_->running()) GTEST_SKIP() << "needs python3 for the local server";
    options_.folder = folder_.path();
    options_.stalled_seconds = 2;
  }

  // A file of the catalogue that the server answers under `path`.
  static DataFile file_at(const std::string& path, bool known = true) {
    const std::string body = LocalServer::body();
    DataFile file;
    file.path = "set/file.txt";
    file.url = server_->url(path);
    if (known) {
      file.size = body.size();
      file.sha256 = sha256_of(body);
    }
    return file;
  }

  Result<Fetched> fetch(const DataFile& file) { return fetch_data(file, options_); }

  void expect_refused(const std::string& path, std::string_view part) {
    const auto fetched = fetch(file_at(path));
    ASSERT_FALSE(fetched);
    EXPECT_NE(fetched.error().message.find(part), std::string::npos) << fetched.error().message;
    EXPECT_FALSE(fs::exists(place()));
  }

  fs::path place() const { return folder_.path() / "set/file.txt"; }
  fs::path part() const { return folder_.path() / "set/file.txt.part"; }

  static std::unique_ptr<LocalServer> server_;
  TemporaryFolder folder_;
  FetchOptions options_;
};

std::unique_ptr<LocalServer> Fetch::server_;

TEST_F(Fetch, BringsAGoodFileAndThenLeavesItAlone) {
  const auto first = fetch(file_at("good"));
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_FALSE(first->was_there);
  EXPECT_TRUE(first->verified);
  EXPECT_EQ(folder_.read("set/file.txt"), LocalServer::body());
  EXPECT_FALSE(fs::exists(part()));
  // The address no longer matters once the file is there and right.
  const auto again = fetch(file_at("missing"));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->was_there);
}

TEST_F(Fetch, ReplacesAFileThatIsWrong) {
  folder_.write("set/file.txt", "something else");
  const auto fetched = fetch(file_at("good"));
  ASSERT_TRUE(fetched) << fetched.error().message;
  EXPECT_FALSE(fetched->was_there);
  EXPECT_EQ(folder_.read("set/file.txt"), LocalServer::body());
}

TEST_F(Fetch, FollowsRedirectsButNotToFilesOfThisMachine) {
  EXPECT_TRUE(fetch(file_at("moved")));
  fs::remove(place());
  expect_refused("to-file", "cannot be downloaded");
}

TEST_F(Fetch, ReadsFileAddresses) {
  DataFile file = file_at("good");
  file.url = "file://" + folder_.write("elsewhere.txt", LocalServer::body()).string();
  EXPECT_TRUE(fetch(file));
  file.url += ".not";
  file.path = "other.txt";
  EXPECT_FALSE(fetch(file));
}

TEST_F(Fetch, RefusesATruncatedFileWithBothSums) {
  expect_refused("truncated", sha256_of(LocalServer::body()));
  expect_refused("truncated",
                 sha256_of(LocalServer::body().substr(0, LocalServer::body().size() / 2)));
  EXPECT_FALSE(fs::exists(part()));
}

TEST_F(Fetch, RefusesChangedBytesWithBothSums) {
  std::string changed = LocalServer::body();
  std::reverse(changed.begin(), changed.end());
  expect_refused("changed", sha256_of(changed));
  expect_refused("changed", sha256_of(LocalServer::body()));
  EXPECT_FALSE(fs::exists(part()));
}

TEST_F(Fetch, RefusesMoreThanItShouldBe) {
  expect_refused("long", "more than");
  EXPECT_FALSE(fs::exists(part()));
}

TEST_F(Fetch, AMissingFileSaysWhatToDo) {
  expect_refused("nothing-here", "404");
  expect_refused("nothing-here", "muster data verify");
  expect_refused("nothing-here", place().string());
  EXPECT_FALSE(fs::exists(part()));
}

TEST_F(Fetch, AServerThatIsNotThereSaysWhatToDo) {
  DataFile file = file_at("good");
  file.url = "http://127.0.0.1:1/file";  // nobody listens there
  const auto fetched = fetch(file);
  ASSERT_FALSE(fetched);
  EXPECT_NE(fetched.error().message.find("Without a connection"), std::string::npos);
  EXPECT_FALSE(fs::exists(part()));
}

TEST_F(Fetch, ABrokenConnectionKeepsItsPartAndNoFile) {
  expect_refused("broken", "broke after");
  EXPECT_EQ(fs::file_size(part()), LocalServer::body().size() / 2);
}

TEST_F(Fetch, GoesOnFromAPart) {
  expect_refused("flaky", "Fetch again");
  ASSERT_TRUE(fs::exists(part()));
  std::uint64_t first_seen = 0;
  options_.progress = [&](std::uint64_t done, std::uint64_t) {
    if (first_seen == 0) first_seen = done;
    return true;
  };
  const auto fetched = fetch(file_at("flaky"));
  ASSERT_TRUE(fetched) << fetched.error().message;
  EXPECT_GE(first_seen, LocalServer::body().size() / 2);
  EXPECT_EQ(folder_.read("set/file.txt"), LocalServer::body());
}

TEST_F(Fetch, BeginsAgainWhereTheServerKnowsNoRanges) {
  folder_.write("set/file.txt.part", LocalServer::body().substr(0, 1000));
  const auto fetched = fetch(file_at("good"));
  ASSERT_TRUE(fetched) << fetched.error().message;
  EXPECT_EQ(folder_.read("set/file.txt"), LocalServer::body());
}

TEST_F(Fetch, APartOfSomethingElseIsRefusedOnceAndThenForgotten) {
  folder_.write("set/file.txt.part", "not the beginning of it");
  expect_refused("ranges", "refused and removed");
  EXPECT_TRUE(fetch(file_at("ranges")));
}

TEST_F(Fetch, APartThatIsAllThereIsOnlyChecked) {
  folder_.write("set/file.txt.part", LocalServer::body());
  EXPECT_TRUE(fetch(file_at("nothing-here")));
}

TEST_F(Fetch, GivesUpOnASlowServer) {
  options_.stalled_seconds = 1;
  expect_refused("slow", "broke after");
}

TEST_F(Fetch, CanBeStopped) {
  options_.progress = [](std::uint64_t done, std::uint64_t) { return done < 1000; };
  expect_refused("slow", "stopped");
}

TEST_F(Fetch, AnUnknownChecksumNeedsConsentAndIsRemembered) {
  const DataFile file = file_at("good", false);
  const auto refused = fetch(file);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("--accept-unverified"), std::string::npos);
  options_.accept_unverified = true;
  const auto fetched = fetch(file);
  ASSERT_TRUE(fetched) << fetched.error().message;
  EXPECT_FALSE(fetched->verified);
  EXPECT_EQ(seen_checksum(folder_.path(), file.path), sha256_of(LocalServer::body()));
  EXPECT_EQ(verify_data(file, {folder_.path(), {}}).state, DataState::kSeen);
  folder_.write("set/file.txt", "changed afterwards");
  EXPECT_EQ(verify_data(file, {folder_.path(), {}}).state, DataState::kWrong);
}

TEST_F(Fetch, AFolderThatCannotBeMadeIsSaid) {
  folder_.write("set", "a file where a folder should be");
  const auto fetched = fetch(file_at("good"));
  ASSERT_FALSE(fetched);
  EXPECT_NE(fetched.error().message.find("cannot be created"), std::string::npos);
}

TEST(Sha256, KnownValues) {
  EXPECT_EQ(sha256_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_FALSE(sha256_of_file("no/such/file"));
}

}  // namespace
}  // namespace muster
