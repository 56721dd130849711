#include "workload/data/catalogue.h"

#include <cstdlib>
#include <set>

#include <gtest/gtest.h>

#include "support/paths.h"
#include "support/temporary_folder.h"
#include "workload/data/data_folder.h"
#include "workload/data/sha256.h"

namespace muster {
namespace {

constexpr std::string_view kHead =
    "[[dataset]]\nname = 'one'\nwhat = 'w'\nfor = 'f'\nauthors = 'a'\nhome = 'h'\nlicence = 'MIT'\n"
    "base = 'http://x/'\n";

std::string catalogue_with(std::string_view files) {
  return std::string(kHead) + "files = [" + std::string(files) + "]\n";
}

void expect_error(const std::string& text, std::string_view part) {
  const auto catalogue = parse_catalogue(text, "cat.toml");
  ASSERT_FALSE(catalogue) << text;
  EXPECT_NE(catalogue.error().message.find(part), std::string::npos) << catalogue.error().message;
  EXPECT_NE(catalogue.error().message.find("cat.toml"), std::string::npos);
}

TEST(Catalogue, JoinsAddressesAndFindsSetsAndFiles) {
  const auto catalogue = parse_catalogue(
      catalogue_with(
          "{path='one/a.csv', url='a.csv', size=3}, {path='one/b.csv', url='https://y/b'}"),
      "c");
  ASSERT_TRUE(catalogue) << catalogue.error().message;
  EXPECT_EQ(catalogue->sets[0].files[0].url, "http://x/a.csv");
  EXPECT_EQ(catalogue->sets[0].files[1].url, "https://y/b");
  EXPECT_EQ(catalogue->sets[0].size(), 3U);
  EXPECT_EQ(catalogue->find("one")->second, nullptr);
  EXPECT_EQ(catalogue->find("one/b.csv")->second, &catalogue->sets[0].files[1]);
  EXPECT_NE(catalogue->find("onee").error().message.find("did you mean 'one'"), std::string::npos);
}

TEST(Catalogue, SaysWhatIsWrongAndWhere) {
  expect_error("x = [", "line 1");
  expect_error("x = 1", "[[dataset]]");
  expect_error(std::string(kHead), "'files'");
  expect_error("[[dataset]]\nname = 'one'\n", "'what' is missing");
  expect_error(catalogue_with("{path='a', url='u', size=-1}"), "number of bytes");
  expect_error(catalogue_with("{path='a', url='u', sha256='12'}"), "64 digits");
  expect_error(catalogue_with("{url='u'}"), "'path' is missing");
  expect_error(catalogue_with("{path='../a', url='u'}"), "under the data folder");
  expect_error(catalogue_with("{path='/a', url='u'}"), "under the data folder");
  expect_error(catalogue_with("{path='a', url='u'}, {path='a', url='v'}"), "there before");
  EXPECT_FALSE(read_catalogue("no/such/catalogue.toml"));
}

TEST(Catalogue, OwnCatalogueIsComplete) {
  const auto catalogue = read_catalogue((source_dir() / "data/catalogue.toml").string());
  ASSERT_TRUE(catalogue) << catalogue.error().message;
  std::set<std::string> names;
  for (const DataSet& set : catalogue->sets) {
    names.insert(set.name);
    for (const DataFile& file : set.files) {
      EXPECT_EQ(file.url.substr(0, 8), "https://") << file.path;
      // Addresses must not move under us: they name a commit.
      EXPECT_NE(file.url.find_first_of("0123456789abcdef"), std::string::npos);
      EXPECT_TRUE(file.sha256.empty() || file.size) << file.path;
    }
  }
  for (const std::string name :
       {"philly", "elasticflow-traces", "gavel", "muri", "lucid", "helios"}) {
    EXPECT_EQ(names.count(name), 1U) << name;
  }
}

// The files that the shared folder has are the very files of the catalogue.
TEST(Catalogue, SharedFilesHaveItsChecksums) {
  MUSTER_NEEDS_SHARED("data");
  const auto catalogue = read_catalogue((source_dir() / "data/catalogue.toml").string());
  ASSERT_TRUE(catalogue) << catalogue.error().message;
  int good = 0;
  for (const DataSet& set : catalogue->sets) {
    for (const DataFile& file : set.files) {
      const DataCheck check = verify_data(file, {{}, shared_dir() / "data"});
      if (check.state == DataState::kMissing) continue;
      EXPECT_EQ(check.state, DataState::kGood) << file.path << ": " << check.problem;
      ++good;
    }
  }
  EXPECT_GT(good, 100);
}

class Locate : public testing::Test {
 protected:
  Locate()
      : catalogue_(
            *parse_catalogue(catalogue_with("{path='one/a.csv', url='a.csv', size=3, sha256='" +
                                            sha256_of("abc") + "'}"),
                             "c")) {}

  TemporaryFolder data_;
  TemporaryFolder shared_;
  Catalogue catalogue_;
  DataPlaces places_{data_.path(), shared_.path()};
};

TEST_F(Locate, LooksInTheDataFolderThenInTheSharedOne) {
  shared_.write("one/a.csv", "abc");
  EXPECT_EQ(*locate_data("one/a.csv", catalogue_, places_), shared_.path() / "one/a.csv");
  data_.write("one/a.csv", "abc");
  EXPECT_EQ(*locate_data("one/a.csv", catalogue_, places_), data_.path() / "one/a.csv");
  EXPECT_EQ(*locate_data("one", catalogue_, places_), data_.path() / "one/a.csv");
}

TEST_F(Locate, SaysWhatIsMissingAndHowToGetIt) {
  const auto missing = locate_data("one", catalogue_, places_);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("one/a.csv"), std::string::npos);
  EXPECT_NE(missing.error().message.find("`muster data fetch one`"), std::string::npos);
  EXPECT_NE(missing.error().message.find(data_.path().string()), std::string::npos);
  EXPECT_NE(missing.error().message.find(shared_.path().string()), std::string::npos);
  EXPECT_FALSE(locate_data("two", catalogue_, places_));
}

TEST_F(Locate, ChecksSizeFirstAndThenTheSum) {
  const DataFile& file = catalogue_.sets[0].files[0];
  EXPECT_EQ(verify_data(file, places_).state, DataState::kMissing);
  data_.write("one/a.csv", "abcd");
  EXPECT_EQ(look_for_data(file, places_).state, DataState::kWrong);
  EXPECT_NE(verify_data(file, places_).problem.find("4 bytes"), std::string::npos);
  data_.write("one/a.csv", "abd");
  EXPECT_EQ(look_for_data(file, places_).state, DataState::kGood);
  const DataCheck changed = verify_data(file, places_);
  EXPECT_EQ(changed.state, DataState::kWrong);
  EXPECT_NE(changed.problem.find(sha256_of("abc")), std::string::npos);
  EXPECT_NE(changed.problem.find(sha256_of("abd")), std::string::npos);
  data_.write("one/a.csv", "abc");
  EXPECT_EQ(verify_data(file, places_).state, DataState::kGood);
}

class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    if (value == nullptr) {
      unsetenv(name);
    } else {
      setenv(name, value, 1);
    }
  }
  ~Environment() {
    if (before_) {
      setenv(name_, before_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST(DataPlaces, FollowTheEnvironment) {
  const Environment shared("MUSTER_SHARED", "/somewhere");
  const Environment home("HOME", "/home/me");
  {
    const Environment data("MUSTER_DATA", nullptr);
    const Environment xdg("XDG_DATA_HOME", nullptr);
    EXPECT_EQ(data_places().folder, "/home/me/.local/share/muster");
    EXPECT_EQ(data_places().shared, "/somewhere/data");
  }
  const Environment xdg("XDG_DATA_HOME", "/xdg");
  const Environment none("MUSTER_DATA", nullptr);
  EXPECT_EQ(data_places().folder, "/xdg/muster");
  const Environment data("MUSTER_DATA", "/mine");
  EXPECT_EQ(data_places().folder, "/mine");
  EXPECT_EQ(data_places("/given").folder, "/given");
  const Environment unset("MUSTER_SHARED", nullptr);
  EXPECT_EQ(data_places().shared, "../shared/data");
}

TEST(OwnCatalogue, IsFoundThroughMusterHome) {
  const Environment right("MUSTER_HOME", source_dir().c_str());
  EXPECT_TRUE(own_catalogue());
  const TemporaryFolder empty;
  const Environment wrong("MUSTER_HOME", empty.path().c_str());
  EXPECT_NE(own_catalogue().error().message.find("MUSTER_HOME"), std::string::npos);
}

}  // namespace
}  // namespace muster
