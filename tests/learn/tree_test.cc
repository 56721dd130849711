#include "learn/tree.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "learn/estimate.h"
#include "learn/model_file.h"
#include "learn/packing.h"

namespace muster {
namespace {

DecisionTree box_tree(double prune) {
  Random random(1);
  std::vector<std::vector<double>> columns(2);
  std::vector<int> target;
  for (int i = 0; i < 400; ++i) {
    columns[0].push_back(random.unit());
    columns[1].push_back(random.unit());
    const bool inside = columns[0].back() > 0.5 && columns[1].back() > 0.25;
    target.push_back(inside != (random.unit() < 0.05) ? 1 : 0);
  }
  const FeatureSet features({{"a", false, {}}, {"b", false, {}}});
  TreeOptions options;
  options.prune = prune;
  auto tree = train_tree(features, columns, target, {"out", "in"}, options);
  EXPECT_TRUE(tree);
  return std::move(*tree);
}

TEST(DecisionTree, FindsTheBox) {
  const DecisionTree tree = box_tree(0.01);
  EXPECT_EQ(tree.leaves(), 3);
  EXPECT_EQ(tree.depth(), 2);
  EXPECT_EQ(tree.predict(std::vector<double>{0.8, 0.8}), 1);
  EXPECT_EQ(tree.predict(std::vector<double>{0.2, 0.8}), 0);
  EXPECT_EQ(tree.predict(std::vector<double>{0.8, 0.1}), 0);
  EXPECT_GE(tree.predict(std::vector<double>{kMissing, kMissing}), 0);
  EXPECT_GT(box_tree(0).leaves(), 3);
}

TEST(DecisionTree, IsReadAndWritten) {
  const DecisionTree tree = box_tree(0.01);
  const auto again = tree_of(to_text(tree), "tree.json");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_text(*again), to_text(tree));
  EXPECT_NE(tree.text().find("a <= 0.49"), std::string::npos) << tree.text();
  EXPECT_FALSE(tree_of(R"({"muster_model":"tree","version":1,"target":"","classes":["x"],)"
                       R"("features":[],"nodes":[{"counts":[1],"feature":0,"cut":1,"left":0,)"
                       R"("right":0,"missing_left":true}]})",
                       "loop.json"));
}

TEST(Packing, SeparatesLightFromHeavy) {
  std::vector<WorkloadProfile> profiles;
  std::vector<int> scores;
  for (int i = 0; i < 30; ++i) {
    WorkloadProfile profile;
    profile.gpu_util = 3.3 * i;
    profile.memory_util = 2.0 * i;
    profile.memory_mb = 1000 + 100.0 * (i % 7);
    profiles.push_back(profile);
    scores.push_back(i < 10 ? 0 : i < 20 ? 1 : 2);
  }
  const auto tree = train_packing(profiles, scores, {});
  ASSERT_TRUE(tree) << tree.error().message;
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    EXPECT_EQ(packing_score(*tree, profiles[i]), scores[i]);
  }
  scores[3] = 7;
  EXPECT_FALSE(train_packing(profiles, scores, {}));
  EXPECT_EQ(share_score(0.8), 2);
  EXPECT_EQ(share_score(0.9), 1);
  EXPECT_EQ(share_score(0.96), 0);
}

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

}  // namespace
}  // namespace muster
