#include "base/sorted_blocks.h"

#include <set>

#include <gtest/gtest.h>

#include "base/random.h"

namespace muster {
namespace {

std::vector<int> all(const SortedBlocks<int>& set) {
  std::vector<int> values;
  for (auto walk = set.walk(); !walk.done(); walk.next()) values.push_back(*walk);
  return values;
}

TEST(SortedBlocks, HoldsWhatAnOrdinarySetHolds) {
  Random random(7, "sorted blocks");
  SortedBlocks<int> ours;
  std::set<int> plain;
  for (int step = 0; step < 20000; ++step) {
    // Grows for a while, then shrinks to nothing, over and over.
    const bool grow = step / 2500 % 2 == 0;
    const int value = static_cast<int>(random.uniform(0, 1500));
    if (random.uniform(0, 1) < (grow ? 0.8 : 0.1)) {
      ours.insert(value);
      plain.insert(value);
    } else {
      const int gone = grow || plain.empty() ? value : *plain.lower_bound(0);
      ours.erase(gone);
      plain.erase(gone);
    }
    if (step % 50 != 0) continue;
    ASSERT_EQ(all(ours), std::vector<int>(plain.begin(), plain.end())) << step;
  }
}

TEST(SortedBlocks, EmptyOneEndsAtOnceAndForgivesErasing) {
  SortedBlocks<int> set;
  EXPECT_TRUE(set.walk().done());
  set.erase(3);
  set.insert(3);
  set.insert(3);
  EXPECT_EQ(all(set), std::vector<int>{3});
  set.erase(3);
  EXPECT_TRUE(set.walk().done());
}

}  // namespace
}  // namespace muster
