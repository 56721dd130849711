// Estimates of durations: Lucid's weekly model, Helios' history and boosted trees, names by edit
// distance.
#include "learn/estimate.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/random.h"
#include "learn/history_estimate.h"

namespace muster {
namespace {

TEST(Estimate, LearnsHabitsOfUsers) {
  Symbols symbols;
  std::vector<JobSpec> jobs;
  Random random(2);
  for (int i = 0; i < 3000; ++i) {
    JobSpec job;
    job.submit = i * 400.0;
    job.user = symbols.intern(i % 3 == 0 ? "long" : "short");
    job.partition = symbols.intern("vc");
    job.gpus = 1;
    job.duration = (i % 3 == 0 ? 5000 : 100) * random.uniform(0.8, 1.2);
    jobs.push_back(job);
  }
  EstimateOptions options;
  options.ebm.pairs = 0;
  const auto estimates = weekly_estimates(std::span(jobs).first(1000),
                                          std::span(jobs).subspan(1000), symbols, nullptr, options);
  ASSERT_TRUE(estimates) << estimates.error().message;
  ASSERT_EQ(estimates->size(), 2000U);
  for (std::size_t i = 0; i < 2000; ++i) {
    const bool is_long = (i + 1000) % 3 == 0;
    EXPECT_NEAR((*estimates)[i], is_long ? 5000 : 100, is_long ? 800 : 400);
  }
  EXPECT_FALSE(train_estimate(std::span(jobs).first(49), symbols, nullptr, options));
}

TEST(Names, AreClusteredByEditDistance) {
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  const std::vector<std::string> names = {"train_a", "train_a", "train_a", "train_b", "xray", "tx"};
  const auto clustered = cluster_names(names, 1, 0.3);
  EXPECT_EQ(clustered,
            (std::vector<std::string>{"train_a", "train_a", "train_a", "train_a", "xray", "tx"}));
}

// Habits change after the history: only who trains again can know.
TEST(Estimate, IsTrainedAnewEveryWeek) {
  Symbols symbols;
  std::vector<JobSpec> jobs;
  for (int i = 0; i < 2400; ++i) {
    JobSpec job;
    job.submit = i * 1000.0;  // about four weeks
    job.user = symbols.intern(i % 2 == 0 ? "ann" : "bob");
    job.partition = symbols.intern("vc");
    job.duration = job.user == symbols.intern("ann") && i >= 600 ? 9000 : 300;
    jobs.push_back(job);
  }
  const auto history = std::span(jobs).first(600);
  const auto later = std::span(jobs).subspan(600);
  EstimateOptions options;
  options.ebm.pairs = 3;  // who, and since when
  const auto mean_error = [&](Seconds every, std::size_t from) {
    options.retrain_every = every;
    const auto estimates = weekly_estimates(history, later, symbols, nullptr, options);
    EXPECT_TRUE(estimates) << estimates.error().message;
    double error = 0;
    for (std::size_t i = from; i < later.size(); ++i) {
      error +=
          std::abs((*estimates)[i] - later[i].duration) / static_cast<double>(later.size() - from);
    }
    return error;
  };
  constexpr Seconds kWeek = 7 * 86400;
  const std::size_t second_week = 605;  // jobs of one week
  EXPECT_GT(mean_error(1e9, second_week), 4000);
  EXPECT_LT(mean_error(kWeek, second_week), 1500);
}

TEST(Estimate, KnowsNothingOfStrangersButAnswers) {
  Symbols symbols;
  std::vector<JobSpec> jobs;
  for (int i = 0; i < 200; ++i) {
    JobSpec job;
    job.submit = i * 100.0;
    job.user = symbols.intern("ann");
    job.partition = symbols.intern("a");
    job.model = symbols.intern("m");
    job.duration = 500;
    jobs.push_back(job);
  }
  JobSpec stranger;
  stranger.submit = 30000;
  stranger.user = symbols.intern("nobody");
  stranger.partition = symbols.intern("nowhere");
  stranger.model = symbols.intern("unheard-of");
  stranger.gpus = 64;
  stranger.duration = 1;
  const std::vector<JobSpec> strangers = {stranger};
  const auto lucid = weekly_estimates(jobs, strangers, symbols, nullptr, {});
  ASSERT_TRUE(lucid) << lucid.error().message;
  EXPECT_NEAR(lucid->at(0), 500, 1);
  if (!has_boosted_trees()) return;
  const auto helios = history_estimates(jobs, strangers, symbols, {});
  ASSERT_TRUE(helios) << helios.error().message;
  EXPECT_NEAR(helios->at(0), 500, 5);
}

TEST(HistoryEstimator, ComparesNamesByMatchingBlocks) {
  EXPECT_EQ(name_similarity("abcd", "bcde"), 0.75);
  EXPECT_EQ(name_similarity("", ""), 1);
  EXPECT_EQ(name_similarity("abc", ""), 0);
  EXPECT_EQ(name_similarity("abc", "abc"), 1);
  EXPECT_NEAR(name_similarity("private", "privates"), 14.0 / 15, 1e-12);
}

TEST(HistoryEstimator, PrefersNameThenUserThenSize) {
  const Symbol ann{1};
  const Symbol bob{2};
  const Symbol cyd{3};
  HistoryEstimator past;
  EXPECT_EQ(past.estimate("train_net", ann, 1).seconds, 0);
  past.add("train_net", ann, 1, 100);
  past.add("train_net", ann, 8, 300);
  past.add("train_net", bob, 1, 800);
  past.add("zzz", bob, 1, 5000);
  EXPECT_EQ(past.estimate("train_net", ann, 8).seconds, 300);
  EXPECT_EQ(past.estimate("train_net", ann, 4).seconds, 200);   // no job of that size: both
  EXPECT_EQ(past.estimate("train_net", cyd, 1).seconds, 400);   // of everybody
  EXPECT_EQ(past.estimate("train_nets", ann, 1).seconds, 100);  // a similar name
  EXPECT_FALSE(past.estimate("train_nets", ann, 1).guessed);
  EXPECT_EQ(past.estimate("q", bob, 1).seconds, 2900);  // no name is near: all of the user
  EXPECT_TRUE(past.estimate("q", bob, 1).guessed);
  EXPECT_EQ(past.estimate("q", cyd, 1).seconds, 1550);  // nobody knows: all jobs
}

TEST(HistoryEstimator, IsBlendedWithTheTrees) {
  EXPECT_DOUBLE_EQ(blend_estimates(1000, 100), 190);
  EXPECT_DOUBLE_EQ(blend_estimates(1000, -5), 1000);
}

TEST(HistoryEstimator, LearnsNamesAndUsers) {
  if (!has_boosted_trees()) GTEST_SKIP() << "built without XGBoost";
  Symbols symbols;
  Random random(4);
  std::vector<JobSpec> jobs;
  for (int i = 0; i < 2000; ++i) {
    JobSpec job;
    job.submit = i * 500.0;
    const bool slow = random.chance(0.4);
    job.user = symbols.intern(random.chance(0.5) ? "ann" : "bob");
    job.partition = symbols.intern("vc");
    job.model = symbols.intern(slow ? "pretrain_large" : "eval_small");
    job.duration = (slow ? 20000 : 60) * random.uniform(0.9, 1.1);
    jobs.push_back(job);
  }
  const auto estimates =
      history_estimates(std::span(jobs).first(500), std::span(jobs).subspan(500), symbols, {});
  ASSERT_TRUE(estimates) << estimates.error().message;
  for (std::size_t i = 0; i < estimates->size(); ++i) {
    const double truth = jobs[500 + i].duration;
    EXPECT_NEAR((*estimates)[i], truth, truth > 1000 ? 4000 : 1500) << i;
  }
  const auto few = history_estimates(std::span(jobs).first(49), jobs, symbols, {});
  ASSERT_FALSE(few);
  EXPECT_NE(few.error().message.find("49 jobs of history"), std::string::npos);
}

}  // namespace
}  // namespace muster
