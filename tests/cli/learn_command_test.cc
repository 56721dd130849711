// `muster learn`, line by line as people type it.
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/random.h"
#include "cli/captured.h"
#include "support/temporary_folder.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

class LearnCommand : public testing::Test {
 protected:
  void SetUp() override { folder_.write("history.csv", history(400)); }

  // ann's jobs are long, those of 8 GPUs longer.
  static std::string history(int rows) {
    Random random(3);
    std::string text = "job_id,user,gpu_num,hour,state,duration\n";
    for (int i = 0; i < rows; ++i) {
      const bool ann = random.chance(0.5);
      const auto gpus = random.chance(0.5) ? 8 : 1;
      text += fmt::format("j{},{},{},{},{},{}\n", i, ann ? "ann" : "bob", gpus, i % 24,
                          ann ? "good" : "bad", (ann ? 8000 : 200) + 500 * gpus);
    }
    return text;
  }
  std::string at(const std::string& name) const { return (folder_.path() / name).string(); }

  // Words that end in .csv, .json or .html are files of the test's folder.
  int run(const std::string& line) {
    std::string full = "learn";
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      const bool file =
          word.ends_with(".csv") || word.ends_with(".json") || word.ends_with(".html");
      full += " " + (file ? at(word) : word);
    }
    const Captured ran = captured(add_learn_command, full);
    out_ = ran.out;
    err_ = ran.err;
    return ran.status;
  }
  void train() {
    ASSERT_EQ(run("train history.csv --target duration --drop job_id,state --rounds 200 "
                  "--learning-rate 0.2 --bags 3 -o m.json"),
              0)
        << err_;
  }

  TemporaryFolder folder_;
  std::string out_;
  std::string err_;
};

TEST_F(LearnCommand, TrainsPredictsEvaluatesAndExplains) {
  train();
  EXPECT_THAT(out_, HasSubstr("most important: user"));
  folder_.write("new.csv", "job_id,user,gpu_num,hour\nx,ann,8,3\ny,bob,1,4\n");
  ASSERT_EQ(run("predict m.json new.csv --id job_id"), 0) << err_;
  std::istringstream lines(out_);
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "job_id,estimate");
  std::getline(lines, line);
  EXPECT_NEAR(std::stod(line.substr(2)), 12000, 400) << line;
  std::getline(lines, line);
  EXPECT_NEAR(std::stod(line.substr(2)), 700, 400) << line;

  ASSERT_EQ(run("evaluate m.json history.csv --json"), 0) << err_;
  const auto json = nlohmann::json::parse(out_);
  EXPECT_EQ(json["rows"], 400);
  EXPECT_LT(json["mean_absolute_error"].get<double>(), 300);

  ASSERT_EQ(run("explain m.json user=ann gpu_num=8 --page why.html"), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("duration is estimated at 3."));
  EXPECT_THAT(out_, HasSubstr("user = ann"));
  std::ifstream page(at("why.html"));
  const std::string html((std::istreambuf_iterator<char>(page)), {});
  EXPECT_THAT(html, HasSubstr("One answer taken apart"));
  EXPECT_THAT(html, HasSubstr("class='band'"));
  ASSERT_EQ(run("explain m.json --feature gpu_num"), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("give or take"));
  ASSERT_EQ(run("explain m.json --data history.csv --row 2 --json"), 0) << err_;
  EXPECT_TRUE(nlohmann::json::parse(out_).contains("parts"));
}

TEST_F(LearnCommand, TreesTellClassesApart) {
  ASSERT_EQ(run("train history.csv --kind tree --target state --drop job_id -o tree.json"), 0)
      << err_;
  ASSERT_EQ(run("evaluate tree.json history.csv"), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("accuracy  1.0000"));
  ASSERT_EQ(run("explain tree.json"), 0);
  EXPECT_THAT(out_, HasSubstr("<="));
}

TEST_F(LearnCommand, WhatWasNeverSeenHasNoEffect) {
  train();
  folder_.write("new.csv", "user,gpu_num,hour\nnobody,1,3\n,1,3\nann,,\n");
  ASSERT_EQ(run("predict m.json new.csv"), 0) << err_;
  std::istringstream lines(out_);
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "duration");
  std::getline(lines, line);
  const double stranger = std::stod(line);
  EXPECT_GT(stranger, 2000);  // between bob's and ann's
  EXPECT_LT(stranger, 7000);
}

TEST_F(LearnCommand, BadInputIsNamed) {
  train();
  EXPECT_EQ(run("train no.csv --target duration -o x.json"), 2);
  EXPECT_THAT(err_, HasSubstr("no.csv"));
  EXPECT_EQ(run("train history.csv --target durations -o x.json"), 2);
  EXPECT_THAT(err_, HasSubstr("did you mean 'duration'"));
  EXPECT_EQ(run("train history.csv --target duration --features user,gpus -o x.json"), 2);
  EXPECT_THAT(err_, HasSubstr("gpus"));
  EXPECT_EQ(run("train history.csv --target duration --monotone user -o x.json"), 2);
  EXPECT_THAT(err_, HasSubstr("no order"));
  folder_.write("few.csv", history(49));
  EXPECT_EQ(run("train few.csv --target duration -o x.json"), 2);
  EXPECT_THAT(err_, HasSubstr("49 training rows; at least 50"));
  folder_.write("narrow.csv", "user,hour\nann,3\n");
  EXPECT_EQ(run("predict m.json narrow.csv"), 2);
  EXPECT_THAT(err_, HasSubstr("gpu_num"));
  EXPECT_EQ(run("explain m.json usr=ann"), 2);
  EXPECT_THAT(err_, HasSubstr("did you mean 'user'"));
  EXPECT_EQ(run("explain m.json user"), 2);
  EXPECT_THAT(err_, HasSubstr("FEATURE=VALUE"));
  EXPECT_EQ(run("explain history.csv"), 2);
  folder_.write("broken.json", "{\"muster_model\": \"ebm\", \"version\": 1}");
  EXPECT_EQ(run("explain broken.json"), 2);
  EXPECT_THAT(err_, HasSubstr("broken.json"));
}

TEST_F(LearnCommand, EqualTargetsAndMissingNumbers) {
  std::string text = "a,b,y\n";
  for (int i = 0; i < 60; ++i) text += fmt::format("{},{},5\n", i % 3 == 0 ? "nan" : "1", i);
  folder_.write("equal.csv", text);
  ASSERT_EQ(run("train equal.csv --target y -o equal.json"), 0) << err_;
  folder_.write("ask.csv", "a,b\nnan,3\n,\n");
  ASSERT_EQ(run("predict equal.json ask.csv"), 0) << err_;
  EXPECT_EQ(out_, "y\n5\n5\n");
}

TEST_F(LearnCommand, ATraceBecomesATableEstimatesAndAForecast) {
  std::string text = "job_id,submit_s,duration_s,gpus,user,partition\n";
  for (int i = 0; i < 600; ++i) {
    text += fmt::format("t{},{},{},1,{},vc\n", i, i * 300, i % 2 == 0 ? 5000 : 100,
                        i % 2 == 0 ? "ann" : "bob");
  }
  std::string head = "job_id,submit_s,duration_s,gpus,user,partition\n";
  folder_.write("old.csv", text);
  folder_.write("new.csv", head + "x,200000,1,1,ann,vc\ny,200100,1,1,bob,vc\n");
  ASSERT_EQ(run("table old.csv --epoch 2020-09-01 -o table.csv"), 0) << err_;
  std::ifstream table(at("table.csv"));
  std::string line;
  std::getline(table, line);
  EXPECT_EQ(line, "job_id,job_number,user,vc,gpu_num,cpu_num,month,day,hour,dayofweek,duration");
  std::getline(table, line);
  EXPECT_EQ(line, "t0,0,ann,vc,1,,9,1,0,1,5000");
  ASSERT_EQ(run("estimate old.csv new.csv --model m.json -o estimates.csv"), 0) << err_;
  std::ifstream estimates(at("estimates.csv"));
  std::getline(estimates, line);
  std::getline(estimates, line);
  EXPECT_NEAR(std::stod(line.substr(2)), 5000, 300) << line;
  ASSERT_EQ(run("forecast old.csv new.csv -o forecast.csv"), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("forecast.begin="));
  EXPECT_EQ(run("estimate new.csv old.csv -o estimates.csv"), 2);
  EXPECT_THAT(err_, HasSubstr("begins before"));
  EXPECT_EQ(run("estimate new.csv new.csv -o estimates.csv"), 2);
  EXPECT_EQ(run("table old.csv --epoch yesterday -o table.csv"), 2);
  EXPECT_THAT(err_, HasSubstr("expected a day"));
}

}  // namespace
}  // namespace muster
