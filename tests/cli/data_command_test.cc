#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/captured.h"
#include "support/paths.h"
#include "support/temporary_folder.h"
#include "workload/data/sha256.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

// A catalogue of two sets whose originals are files of this machine.
class DataCommand : public testing::Test {
 protected:
  DataCommand() {
    origin_.write("a.csv", "alpha");
    origin_.write("b.csv", "beta");
    const std::string text =
        "[[dataset]]\nname = 'greek'\nwhat = 'letters'\nfor = 'tests'\nauthors = 'us'\nhome = 'h'\n"
        "licence = 'MIT'\nbase = 'file://" +
        origin_.path().string() +
        "/'\nfiles = [{path='greek/a.csv', url='a.csv', size=5, sha256='" + sha256_of("alpha") +
        "'}, {path='greek/b.csv', url='b.csv', size=4, sha256='" + sha256_of("beta") +
        "'}]\n[[dataset]]\nname = 'unsure'\nwhat = 'w'\nfor = 'f'\nauthors = 'a'\nhome = 'h'\n"
        "licence = 'l'\nbase = 'file://" +
        origin_.path().string() + "/'\nfiles = [{path='unsure.csv', url='a.csv'}]\n";
    where_ = " --dir " + folder_.path().string() + " --catalogue " +
             origin_.write("c.toml", text).string();
  }

  int run(const std::string& line) {
    const Captured ran = captured(add_data_command, "data " + line + where_);
    out_ = ran.out;
    err_ = ran.err;
    return ran.status;
  }

  TemporaryFolder origin_;
  TemporaryFolder folder_;
  std::string where_;
  std::string out_;
  std::string err_;
};

TEST_F(DataCommand, FetchesListsAndVerifies) {
  EXPECT_EQ(run("list"), kExitOk);
  EXPECT_NE(out_.find("not here"), std::string::npos) << out_;
  EXPECT_EQ(run("verify greek"), kExitFailed);
  EXPECT_NE(out_.find("muster data fetch greek"), std::string::npos) << out_;
  EXPECT_EQ(run("fetch greek"), kExitOk) << err_;
  EXPECT_EQ(folder_.read("greek/b.csv"), "beta");
  EXPECT_NE(err_.find("licence: MIT"), std::string::npos) << err_;
  EXPECT_EQ(run("list"), kExitOk);
  EXPECT_NE(out_.find("all here"), std::string::npos) << out_;
  EXPECT_EQ(run("verify greek"), kExitOk);
  EXPECT_NE(out_.find("2 right"), std::string::npos) << out_;
  EXPECT_EQ(run("fetch greek"), kExitOk);
  EXPECT_NE(err_.find("already there"), std::string::npos) << err_;
}

TEST_F(DataCommand, OneFileCanBeNamed) {
  EXPECT_EQ(run("fetch greek/a.csv"), kExitOk) << err_;
  EXPECT_TRUE(fs::exists(folder_.path() / "greek/a.csv"));
  EXPECT_FALSE(fs::exists(folder_.path() / "greek/b.csv"));
}

TEST_F(DataCommand, WrongFilesFail) {
  origin_.write("b.csv", "BETA");
  EXPECT_EQ(run("fetch greek"), kExitFailed);
  EXPECT_NE(err_.find(sha256_of("BETA")), std::string::npos) << err_;
  EXPECT_NE(err_.find(sha256_of("beta")), std::string::npos) << err_;
  EXPECT_TRUE(fs::exists(folder_.path() / "greek/a.csv"));  // the good one came
  EXPECT_FALSE(fs::exists(folder_.path() / "greek/b.csv"));
  folder_.write("greek/a.csv", "ALPHA");
  EXPECT_EQ(run("verify"), kExitFailed);
  EXPECT_NE(out_.find("WRONG"), std::string::npos) << out_;
}

TEST_F(DataCommand, UnverifiedFilesNeedConsent) {
  EXPECT_EQ(run("fetch unsure"), kExitFailed);
  EXPECT_NE(err_.find("--accept-unverified"), std::string::npos);
  EXPECT_EQ(run("fetch unsure --accept-unverified"), kExitOk) << err_;
  EXPECT_NE(err_.find(sha256_of("alpha")), std::string::npos) << err_;
  EXPECT_EQ(run("verify unsure"), kExitOk);
  EXPECT_NE(out_.find("as fetched"), std::string::npos) << out_;
}

TEST_F(DataCommand, UnknownNamesAndNoNames) {
  EXPECT_EQ(run("fetch greec"), kExitBadInput);
  EXPECT_NE(err_.find("did you mean 'greek'"), std::string::npos) << err_;
  EXPECT_EQ(run("fetch"), kExitBadInput);
  EXPECT_EQ(run("fetch --all --accept-unverified -q"), kExitOk);
}

// A set of many files at an address where nobody answers.
class OfflineDataCommand : public DataCommand {
 protected:
  OfflineDataCommand() {
    std::string text =
        "[[dataset]]\nname = 'far'\nwhat = 'w'\nfor = 'f'\nauthors = 'a'\nhome = 'h'\n"
        "licence = 'l'\nbase = 'http://127.0.0.1:1/'\nfiles = [";
    for (int i = 0; i < 27; ++i) {
      const std::string name = std::to_string(i) + ".csv";
      text += fmt::format("{{path='far/{0}', url='{0}', size=5, sha256='{1}'}},", name,
                          sha256_of("alpha"));
    }
    text += "]\n";
    where_ = " --dir " + folder_.path().string() + " --catalogue " +
             origin_.write("far.toml", text).string();
  }
};

TEST_F(OfflineDataCommand, WhatIsThereNeedsNoConnection) {
  for (int i = 0; i < 27; ++i) folder_.write(fmt::format("far/{}.csv", i), "alpha");
  EXPECT_EQ(run("fetch far"), kExitOk) << err_;
  EXPECT_EQ(err_.find("onnect"), std::string::npos) << err_;
  EXPECT_EQ(run("fetch far -q"), kExitOk);
  EXPECT_EQ(err_, "");
}

TEST_F(OfflineDataCommand, WithoutAConnectionItSaysSoOnce) {
  folder_.write("far/5.csv", "alpha");
  EXPECT_EQ(run("fetch far"), kExitFailed);
  EXPECT_LT(std::count(err_.begin(), err_.end(), '\n'), 6) << err_;
  EXPECT_NE(err_.find("no connection: 25 more files were not tried"), std::string::npos) << err_;
  EXPECT_NE(err_.find("5.csv was already there"), std::string::npos) << err_;
}

TEST_F(DataCommand, JsonForScripts) {
  ASSERT_EQ(run("fetch greek/a.csv"), kExitOk);
  EXPECT_EQ(run("verify --json greek"), kExitFailed);
  const nlohmann::json list = nlohmann::json::parse(out_);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0]["state"], "good");
  EXPECT_EQ(list[0]["size"], 5);
  EXPECT_EQ(list[1]["state"], "missing");
  EXPECT_EQ(run("list --json"), kExitOk);
  EXPECT_EQ(nlohmann::json::parse(out_).size(), 3U);
}

}  // namespace
}  // namespace muster
