#include "learn/tree.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "learn/estimate.h"
#include "learn/model_file.h"
#include "learn/packing.h"

namespace muster {
namespace {

Result<DecisionTree> train_on_box(const TreeOptions& options) {
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
  return train_tree(features, columns, target, {"out", "in"}, options);
}

DecisionTree box_tree(double prune) {
  TreeOptions options;
  options.prune = prune;
  auto tree = train_on_box(options);
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
  EXPECT_GE(tree.predict(std::vector<double>{kMissingNumber, kMissingNumber}), 0);
  EXPECT_GT(box_tree(0).leaves(), 3);
}

TEST(DecisionTree, StopsWhenItIsTold) {
  TreeOptions options;
  for (const int after : {0, 1, 2, 10}) {
    int asked = 0;
    options.keep_going = [&] { return ++asked <= after; };
    const auto tree = train_on_box(options);
    ASSERT_FALSE(tree) << after;
    EXPECT_EQ(tree.error().message, "training was stopped");
    EXPECT_LE(asked, after + 20);
  }
}

TEST(DecisionTree, IsReadAndWritten) {
  const DecisionTree tree = box_tree(0.01);
  const auto again = tree_of(to_text(tree), "tree.json");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_text(*again), to_text(tree));
  const std::string text = tree.text();
  const std::size_t cut = text.find("a <= ");
  ASSERT_NE(cut, std::string::npos) << text;
  // The truth is 0.5; the cut lies between the two drawn values that are nearest to it.
  EXPECT_NEAR(std::stod(text.substr(cut + 5)), 0.5, 0.01) << text;
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

}  // namespace
}  // namespace muster
