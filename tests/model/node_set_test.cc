#include "model/node_set.h"

#include <set>

#include <gtest/gtest.h>

#include "base/random.h"

namespace muster {
namespace {

NodeId node(std::size_t i) { return NodeId{static_cast<std::uint32_t>(i)}; }

TEST(NodeSet, EmptyHasNoFirst) {
  EXPECT_EQ(NodeSet().first(), kNoNode);
  EXPECT_EQ(NodeSet(1).first(), kNoNode);
  EXPECT_EQ(NodeSet(100'000).first(), kNoNode);
}

TEST(NodeSet, WalksInOrderOfIdAcrossWordsAndSummaries) {
  // Both sides of every boundary: words of 64, summaries of 4096.
  const std::vector<std::size_t> members = {0, 1, 63, 64, 127, 128, 4095, 4096, 8191, 9000};
  NodeSet set(9001);
  for (std::size_t i = members.size(); i-- > 0;) set.insert(node(members[i]));
  NodeId at = set.first();
  for (const std::size_t member : members) {
    EXPECT_EQ(index(at), member);
    at = set.after(at);
  }
  EXPECT_EQ(at, kNoNode);
}

TEST(NodeSet, BehavesAsASet) {
  for (const std::size_t capacity : {1U, 64U, 65U, 4096U, 20'000U}) {
    NodeSet set(capacity);
    std::set<std::size_t> reference;
    Random random(7, "node set");
    for (int step = 0; step < 4000; ++step) {
      const auto i = static_cast<std::size_t>(random.below(capacity));
      if (random.chance(0.5)) {
        set.insert(node(i));
        reference.insert(i);
      } else {
        set.erase(node(i));
        reference.erase(i);
      }
      const auto probe = static_cast<std::size_t>(random.below(capacity));
      ASSERT_EQ(set.contains(node(probe)), reference.count(probe) == 1);
      const auto next = reference.upper_bound(probe);
      ASSERT_EQ(set.after(node(probe)), next == reference.end() ? kNoNode : node(*next));
      ASSERT_EQ(set.first(), reference.empty() ? kNoNode : node(*reference.begin()));
    }
  }
}

}  // namespace
}  // namespace muster
