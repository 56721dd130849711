#include "model/gpu_set.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(GpuSet, CountsGpusAndNodes) {
  GpuSet set;
  EXPECT_TRUE(set.empty());
  set.add(NodeId{3}, 0b1011);
  set.add(NodeId{5}, 0b1);
  set.add(NodeId{9}, ~std::uint64_t{0});
  EXPECT_EQ(set.nodes(), 3);
  EXPECT_EQ(set.gpus(), 3 + 1 + 64);
  EXPECT_EQ(set[0].node, NodeId{3});
  EXPECT_EQ(set[1].count(), 1);
  EXPECT_EQ(set[2].node, NodeId{9});
  set.clear();
  EXPECT_TRUE(set.empty());
  EXPECT_EQ(set.gpus(), 0);
}

TEST(GpuSet, CanBeFilledAgainAfterClear) {
  GpuSet set;
  set.add(NodeId{1}, 0b11);
  set.add(NodeId{2}, 0b11);
  set.clear();
  set.add(NodeId{4}, 0b1);
  GpuSet fresh;
  fresh.add(NodeId{4}, 0b1);
  EXPECT_EQ(set, fresh);
}

// Two searches may list the nodes of one allocation in different order; it is the same allocation.
TEST(GpuSet, IsEqualWhateverTheOrderOfNodes) {
  GpuSet up;
  up.add(NodeId{1}, 0b1);
  up.add(NodeId{2}, 0b10);
  up.add(NodeId{3}, 0b100);
  GpuSet down;
  down.add(NodeId{3}, 0b100);
  down.add(NodeId{1}, 0b1);
  down.add(NodeId{2}, 0b10);
  EXPECT_EQ(up, down);
  GpuSet other;
  other.add(NodeId{1}, 0b10);
  other.add(NodeId{2}, 0b1);
  other.add(NodeId{3}, 0b100);
  EXPECT_FALSE(up == other);
}

TEST(LowestBits, TakesFromBelow) {
  EXPECT_EQ(lowest_bits(0b1011'0100, 2), 0b1'0100U);
  EXPECT_EQ(lowest_bits(0b1011'0100, 0), 0U);
  EXPECT_EQ(lowest_bits(~std::uint64_t{0}, 64), ~std::uint64_t{0});
}

}  // namespace
}  // namespace muster
