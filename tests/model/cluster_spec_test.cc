#include "model/cluster_spec.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster {
namespace {

using ::testing::HasSubstr;

std::string complaint(const ClusterSpec& cluster) {
  const Status status = validate(cluster);
  return status ? "" : status.error().message;
}

TEST(ClusterSpec, UniformIsValid) {
  const ClusterSpec cluster = uniform_cluster(3, 8);
  EXPECT_EQ(cluster.nodes.size(), 3U);
  EXPECT_EQ(cluster.total_gpus(), 24);
  EXPECT_EQ(complaint(cluster), "");
  EXPECT_EQ(complaint(uniform_cluster(1, 64)), "");
}

TEST(ClusterSpec, ComplainsAboutNodes) {
  EXPECT_THAT(complaint({}), HasSubstr("no GPUs"));
  EXPECT_THAT(complaint(uniform_cluster(2, 0)), HasSubstr("0 GPUs, but a node has 1 to 64"));
  EXPECT_THAT(complaint(uniform_cluster(2, 65)), HasSubstr("65 GPUs"));
  EXPECT_THAT(complaint(uniform_cluster(2, -1)), HasSubstr("-1 GPUs"));
  ClusterSpec cluster = uniform_cluster(2, 4);
  cluster.nodes[1].cpus = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(complaint(cluster), HasSubstr("node 1"));
  cluster = uniform_cluster(2, 4);
  cluster.nodes[0].memory_gb = -1;
  EXPECT_THAT(complaint(cluster), HasSubstr("memory"));
  cluster = uniform_cluster(2, 4);
  cluster.nodes[0].rack = -1;
  EXPECT_THAT(complaint(cluster), HasSubstr("rack"));
}

TEST(ClusterSpec, ComplainsAboutPartitions) {
  ClusterSpec cluster = uniform_cluster(1, 4);
  cluster.partitions = {{kNoSymbol, 1}};
  EXPECT_THAT(complaint(cluster), HasSubstr("has no name"));
  cluster.partitions = {{Symbol{1}, -1}};
  EXPECT_THAT(complaint(cluster), HasSubstr("quota of -1"));
  cluster.partitions = {{Symbol{1}, 1}, {Symbol{2}, 1}, {Symbol{1}, 2}};
  EXPECT_THAT(complaint(cluster), HasSubstr("partition 2 has the name of an earlier one"));
}

TEST(ClusterSpec, ComplainsAboutTheSchedule) {
  ClusterSpec cluster = uniform_cluster(2, 4);
  cluster.schedule = {{5, NodeId{2}, true}};
  EXPECT_THAT(complaint(cluster), HasSubstr("names node 2"));
  cluster.schedule = {{5, NodeId{0}, true}, {4, NodeId{1}, true}};
  EXPECT_THAT(complaint(cluster), HasSubstr("in order of time"));
  cluster.schedule = {{-1, NodeId{0}, true}};
  EXPECT_THAT(complaint(cluster), HasSubstr("from 0 on"));
  cluster.schedule = {{kNever, NodeId{0}, true}};
  EXPECT_NE(complaint(cluster), "");
  cluster.schedule = {{std::numeric_limits<double>::quiet_NaN(), NodeId{0}, true}};
  EXPECT_NE(complaint(cluster), "");
}

}  // namespace
}  // namespace muster
