#include "model/cluster_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "support/gpus_on.h"

namespace muster {
namespace {

using ::testing::ElementsAre;

constexpr Symbol kResearch{1};
constexpr Symbol kProduct{2};
constexpr Symbol kOpportunistic{3};  // a partition without nodes of its own
constexpr Symbol kV100{4};
constexpr Symbol kK80{5};

NodeSpec node_of(int gpus, Symbol partition = kNoSymbol, Symbol type = kNoSymbol) {
  NodeSpec node;
  node.gpus = gpus;
  node.partition = partition;
  node.gpu_type = type;
  return node;
}

ClusterState state_of(ClusterSpec spec) {
  return ClusterState(std::make_shared<const ClusterSpec>(std::move(spec)));
}

TEST(ClusterState, StartsEmptyAndWhole) {
  const ClusterState state = state_of(uniform_cluster(3, 8));
  EXPECT_EQ(state.free_gpus(), 24);
  EXPECT_EQ(state.usable_gpus(), 24);
  EXPECT_EQ(state.used_gpus(), 0);
  EXPECT_EQ(state.pools().size(), 1U);
  EXPECT_EQ(state.free_mask(NodeId{2}), 0xffU);
  EXPECT_EQ(state.pools()[0].by_free[8].first(), NodeId{0});
}

TEST(ClusterState, NodesOf64GpusWork) {
  ClusterState state = state_of(uniform_cluster(1, 64));
  EXPECT_EQ(state.free_gpus(), 64);
  state.take(gpus_on(0, ~std::uint64_t{0}), kNoSymbol);
  EXPECT_EQ(state.free_gpus(), 0);
  EXPECT_EQ(state.pools()[0].by_free[0].first(), NodeId{0});
}

TEST(ClusterState, TakeAndReleaseMoveNodesBetweenBuckets) {
  ClusterState state = state_of(uniform_cluster(2, 4));
  state.take(gpus_on(0, 0b0110), kNoSymbol);
  EXPECT_EQ(state.free_mask(NodeId{0}), 0b1001U);
  EXPECT_EQ(state.free_gpus(), 6);
  EXPECT_EQ(state.used_gpus(), 2);
  EXPECT_EQ(state.pools()[0].by_free[2].first(), NodeId{0});
  EXPECT_EQ(state.pools()[0].by_free[4].first(), NodeId{1});
  state.release(gpus_on(0, 0b0110), kNoSymbol);
  EXPECT_EQ(state.free_gpus(), 8);
  EXPECT_EQ(state.pools()[0].by_free[4].first(), NodeId{0});
}

TEST(ClusterState, CountsCoresAndMemoryBesideGpus) {
  ClusterSpec spec = uniform_cluster(1, 4);
  spec.nodes[0].cpus = 16;
  spec.nodes[0].memory_gb = 100;
  ClusterState state = state_of(spec);
  const GpuSet two = gpus_on(0, 0b11);
  state.take(two, kNoSymbol, {3, 10});
  EXPECT_EQ(state.free_cpus(NodeId{0}), 10);
  EXPECT_EQ(state.free_memory(NodeId{0}), 80);
  state.rehost(two, {3, 10}, {5, 20});
  EXPECT_EQ(state.free_cpus(NodeId{0}), 6);
  EXPECT_EQ(state.free_memory(NodeId{0}), 60);
  state.release(two, kNoSymbol, {5, 20});
  EXPECT_EQ(state.free_cpus(NodeId{0}), 16);
  EXPECT_EQ(state.free_memory(NodeId{0}), 100);
}

TEST(ClusterState, PoolsFollowPartitionAndType) {
  ClusterSpec spec;
  spec.nodes = {node_of(4, kResearch, kV100), node_of(8, kResearch, kK80),
                node_of(4, kProduct, kV100), node_of(2)};
  spec.partitions = {{kResearch, 0}, {kProduct, 0}, {kOpportunistic, 0}};
  const ClusterState state = state_of(spec);
  ASSERT_EQ(state.pools().size(), 4U);
  EXPECT_THAT(state.pools_for(kResearch, kNoSymbol), ElementsAre(PoolId{0}, PoolId{1}));
  EXPECT_THAT(state.pools_for(kResearch, kK80), ElementsAre(PoolId{1}));
  EXPECT_THAT(state.pools_for(kProduct, kK80), ElementsAre());
  // Without a partition, or with one that has no nodes: the open nodes.
  EXPECT_THAT(state.pools_for(kNoSymbol, kNoSymbol), ElementsAre(PoolId{3}));
  EXPECT_THAT(state.pools_for(kOpportunistic, kNoSymbol), ElementsAre(PoolId{3}));
  EXPECT_EQ(state.free_for(kResearch, kNoSymbol), 12);
  EXPECT_EQ(state.ever_for(kProduct, kK80), 0);
}

TEST(ClusterState, AJobWithoutPartitionMayUseAllNodesWhereNoneAreOpen) {
  ClusterSpec spec;
  spec.nodes = {node_of(4, kResearch), node_of(4, kProduct)};
  const ClusterState state = state_of(spec);
  EXPECT_EQ(state.free_for(kNoSymbol, kNoSymbol), 8);
}

TEST(ClusterState, QuotaBindsOnSharedNodes) {
  ClusterSpec spec = uniform_cluster(2, 4);
  spec.partitions = {{kResearch, 3}, {kProduct, 0}};
  ClusterState state = state_of(spec);
  EXPECT_EQ(state.free_for(kResearch, kNoSymbol), 3);
  EXPECT_EQ(state.ever_for(kResearch, kNoSymbol), 3);
  EXPECT_EQ(state.free_for(kProduct, kNoSymbol), 8);
  state.take(gpus_on(0, 0b11), kResearch);
  EXPECT_EQ(state.quota_left(kResearch), 1);
  EXPECT_EQ(state.free_for(kResearch, kNoSymbol), 1);
  // GPUs held by others take nothing from the quota.
  state.take(gpus_on(1, 0b11), kProduct);
  EXPECT_EQ(state.quota_left(kResearch), 1);
  EXPECT_GT(state.quota_left(kProduct), 1000);
  state.release(gpus_on(0, 0b11), kResearch);
  EXPECT_EQ(state.quota_left(kResearch), 3);
}

// Where all nodes are of one partition and one type, naming the partition divides nothing.
TEST(ClusterState, OneKindOfNodeIsOneQueueUnlessAQuotaBinds) {
  ClusterSpec spec;
  spec.nodes = {node_of(8, kResearch, kV100), node_of(8, kResearch, kV100)};
  spec.partitions = {{kResearch}};
  EXPECT_TRUE(state_of(spec).one_queue());
  spec.partitions = {{kResearch, 8}};
  EXPECT_FALSE(state_of(spec).one_queue());
  spec.partitions = {{kResearch}};
  spec.nodes.push_back(node_of(8, kResearch, kK80));
  EXPECT_FALSE(state_of(spec).one_queue());
}

TEST(ClusterState, ANodeThatIsDownOffersNothingAndComesBackWhole) {
  ClusterState state = state_of(uniform_cluster(2, 4));
  const GpuSet held = gpus_on(0, 0b0001);
  state.take(held, kNoSymbol);
  state.set_up(NodeId{0}, false);
  EXPECT_EQ(state.usable_gpus(), 4);
  EXPECT_EQ(state.free_gpus(), 4);
  EXPECT_EQ(state.usable_on(NodeId{0}), 0);
  EXPECT_FALSE(state.pools()[0].by_free[0].contains(NodeId{0}));
  // Its holder lets go after the fact: nothing becomes free before the node is back.
  state.release(held, kNoSymbol);
  EXPECT_EQ(state.free_gpus(), 4);
  EXPECT_EQ(state.used_gpus(), 0);
  state.set_up(NodeId{0}, true);
  EXPECT_EQ(state.free_gpus(), 8);
  EXPECT_EQ(state.pools()[0].by_free[4].first(), NodeId{0});
  state.set_up(NodeId{0}, true);  // twice is once
  EXPECT_EQ(state.usable_gpus(), 8);
}

TEST(ClusterState, ABrokenGpuIsMissingUntilItIsRepaired) {
  ClusterState state = state_of(uniform_cluster(1, 4));
  state.set_healthy(NodeId{0}, 2, false);
  EXPECT_EQ(state.usable_gpus(), 3);
  EXPECT_EQ(state.free_mask(NodeId{0}), 0b1011U);
  // A GPU that breaks while held is not free when its holder lets go.
  state.take(gpus_on(0, 0b0011), kNoSymbol);
  state.set_healthy(NodeId{0}, 0, false);
  state.release(gpus_on(0, 0b0011), kNoSymbol);
  EXPECT_EQ(state.free_mask(NodeId{0}), 0b1010U);
  // Repairs while the node is down count when it returns.
  state.set_up(NodeId{0}, false);
  state.set_healthy(NodeId{0}, 2, true);
  EXPECT_EQ(state.usable_gpus(), 0);
  state.set_up(NodeId{0}, true);
  EXPECT_EQ(state.usable_gpus(), 3);
  EXPECT_EQ(state.free_mask(NodeId{0}), 0b1110U);
}

TEST(ClusterState, NodesWhoseScheduleBeginsWithJoiningAreAbsentAtFirst) {
  ClusterSpec spec = uniform_cluster(3, 4);
  spec.schedule = {{10, NodeId{1}, true}, {20, NodeId{2}, false}, {30, NodeId{1}, false}};
  const ClusterState state = state_of(spec);
  EXPECT_TRUE(state.up(NodeId{0}));
  EXPECT_FALSE(state.up(NodeId{1}));
  EXPECT_TRUE(state.up(NodeId{2}));
  EXPECT_EQ(state.usable_gpus(), 8);
  EXPECT_EQ(state.ever_for(kNoSymbol, kNoSymbol), 12);
}

TEST(ClusterState, ACopyIsAForkOfItsOwn) {
  ClusterState state = state_of(uniform_cluster(1, 4));
  ClusterState fork = state;
  fork.take(gpus_on(0, 0b1), kNoSymbol);
  fork.set_healthy(NodeId{0}, 3, false);
  EXPECT_EQ(state.free_gpus(), 4);
  EXPECT_EQ(fork.free_gpus(), 2);
}

void expect_counts_of_pools(const ClusterState& state) {
  int free = 0;
  int usable = 0;
  for (const Pool& pool : state.pools()) {
    int pool_free = 0;
    int pool_usable = 0;
    for (const NodeId id : pool.nodes) {
      pool_free += state.free_on(id);
      pool_usable += state.usable_on(id);
      for (std::size_t k = 0; k < pool.by_free.size(); ++k) {
        const bool belongs = state.up(id) && static_cast<int>(k) == state.free_on(id);
        ASSERT_EQ(pool.by_free[k].contains(id), belongs);
      }
    }
    ASSERT_EQ(pool.free, pool_free);
    ASSERT_EQ(pool.usable, pool_usable);
    free += pool_free;
    usable += pool_usable;
  }
  ASSERT_EQ(state.free_gpus(), free);
  ASSERT_EQ(state.usable_gpus(), usable);
}

// The counts are kept up to date by small steps; here they are counted afresh after each of many.
TEST(ClusterState, CountsStayTrueUnderRandomSteps) {
  ClusterSpec spec;
  for (int i = 0; i < 12; ++i) {
    spec.nodes.push_back(
        node_of(1 + i % 8, i % 3 == 0 ? kResearch : kNoSymbol, i % 2 == 0 ? kV100 : kK80));
  }
  spec.partitions = {{kResearch, 100}};
  ClusterState state = state_of(spec);
  Random random(11, "cluster state");
  std::vector<std::pair<GpuSet, Symbol>> held;
  for (int step = 0; step < 5000; ++step) {
    const NodeId node{static_cast<std::uint32_t>(random.below(12))};
    switch (random.below(4)) {
      case 0:
        if (const std::uint64_t mask = state.free_mask(node)) {
          const int count = static_cast<int>(random.integer(1, std::popcount(mask)));
          held.emplace_back(
              gpus_on(static_cast<std::uint32_t>(index(node)), lowest_bits(mask, count)),
              state.node(node).partition);
          state.take(held.back().first, held.back().second);
        }
        break;
      case 1:
        if (!held.empty()) {
          const auto i = static_cast<std::size_t>(random.below(held.size()));
          state.release(held[i].first, held[i].second);
          held.erase(held.begin() + static_cast<std::ptrdiff_t>(i));
        }
        break;
      case 2:
        state.set_up(node, random.chance(0.7));
        break;
      case 3:
        state.set_healthy(
            node, static_cast<int>(random.below(static_cast<std::uint64_t>(state.node(node).gpus))),
            random.chance(0.7));
        break;
    }
    expect_counts_of_pools(state);
    if (HasFatalFailure()) return;
    int used = 0;
    int research = 0;
    for (const auto& [gpus, partition] : held) {
      used += gpus.gpus();
      research += partition == kResearch ? gpus.gpus() : 0;
    }
    ASSERT_EQ(state.used_gpus(), used);
    ASSERT_EQ(state.quota_left(kResearch), 100 - research);
  }
}

}  // namespace
}  // namespace muster
