#include "workload/cluster_file.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/paths.h"
#include "support/temporary_folder.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

class ClusterFileTest : public ::testing::Test {
 protected:
  ClusterSpec read(const std::string& text) {
    auto cluster = read_cluster(text, symbols_);
    if (!cluster) {
      ADD_FAILURE() << cluster.error().message;
      return {};
    }
    return std::move(*cluster);
  }
  ClusterSpec read_content(const std::string& content) {
    return read(folder_.write("cluster.file", content));
  }
  std::string error(const std::string& text) {
    const auto cluster = read_cluster(text, symbols_);
    return cluster ? "it was read" : cluster.error().message;
  }
  std::string content_error(const std::string& content) {
    return error(folder_.write("cluster.file", content));
  }
  std::string text(Symbol symbol) const { return symbols_.text(symbol); }

  TemporaryFolder folder_;
  Symbols symbols_;
};

TEST_F(ClusterFileTest, NodesByGpus) {
  const ClusterSpec cluster = read("32x4");
  ASSERT_EQ(cluster.nodes.size(), 32U);
  EXPECT_EQ(cluster.total_gpus(), 128);
  EXPECT_EQ(text(cluster.nodes[31].name), "node31");
  EXPECT_EQ(cluster.nodes[0].gpu_type, kNoSymbol);
}

TEST_F(ClusterFileTest, GroupsWithTypes) {
  const ClusterSpec cluster = read("16x8:v100,4x2:a100");
  ASSERT_EQ(cluster.nodes.size(), 20U);
  EXPECT_EQ(text(cluster.nodes[15].gpu_type), "v100");
  EXPECT_EQ(text(cluster.nodes[16].gpu_type), "a100");
  EXPECT_EQ(cluster.nodes[16].gpus, 2);
}

TEST_F(ClusterFileTest, GavelsCounts) {
  const ClusterSpec plain = read("2:0:1");
  ASSERT_EQ(plain.nodes.size(), 3U);
  EXPECT_EQ(plain.total_gpus(), 3);
  EXPECT_EQ(text(plain.nodes[2].gpu_type), "k80");

  const ClusterSpec servers = read("8:16:5@4:2:2");
  // Two of 4, eight of 2, two of 2 and one of the remaining 1.
  EXPECT_EQ(servers.nodes.size(), 13U);
  EXPECT_EQ(servers.total_gpus(), 29);
  EXPECT_EQ(servers.nodes.back().gpus, 1);

  const ClusterSpec named = read("v100=8,t4=4@4");
  ASSERT_EQ(named.nodes.size(), 3U);
  EXPECT_EQ(text(named.nodes[2].gpu_type), "t4");
}

TEST_F(ClusterFileTest, WrongShapesShowTheLegalForms) {
  for (const std::string shape :
       {"32x", "x4", "32x4x", "1:2", "32", "0x4", "-3x4", "3x-4", "v100=x", "=4", "4x8:", "1:1:1@0",
        "1:1:1@1:2", "99999999999x4", "4x8@2"}) {
    EXPECT_THAT(error(shape), HasSubstr("16x8:v100,4x8:a100")) << shape;
  }
  EXPECT_THAT(error("4x65"), HasSubstr("node 0 has 65 GPUs, but a node has 1 to 64"));
  EXPECT_THAT(error("4x0"), HasSubstr("node 0 has 0 GPUs"));
  EXPECT_THAT(error("0:0:0"), HasSubstr("no GPUs"));
  EXPECT_THAT(error("absent.toml"), HasSubstr("'absent.toml' is neither a cluster file"));
}

TEST_F(ClusterFileTest, TomlWithEveryDetail) {
  const ClusterSpec cluster = read_content(R"(
# two kinds of nodes
[[nodes]]
count = 4
gpus = 8
gpu_type = "v100"
cpus = 96
memory_gb = 512.5
nodes_per_rack = 2
partition = "research"
name = "v"

[[nodes]]
gpus = 4
gpu_type = "a100"
name = "big"

[[partitions]]
name = "research"
quota = 24

[[changes]]
time_s = 7200
node = "big"
joins = true

[[changes]]
time_s = 3600
node = 0
joins = false
)");
  ASSERT_EQ(cluster.nodes.size(), 5U);
  EXPECT_EQ(cluster.total_gpus(), 36);
  EXPECT_EQ(text(cluster.nodes[3].name), "v3");
  EXPECT_EQ(text(cluster.nodes[4].name), "big");
  EXPECT_EQ(cluster.nodes[1].rack, 0);
  EXPECT_EQ(cluster.nodes[2].rack, 1);
  EXPECT_EQ(cluster.nodes[4].rack, 2);
  EXPECT_EQ(cluster.nodes[0].cpus, 96);
  EXPECT_EQ(cluster.nodes[0].memory_gb, 512.5);
  ASSERT_EQ(cluster.partitions.size(), 1U);
  EXPECT_EQ(cluster.partitions[0].quota, 24);
  ASSERT_EQ(cluster.schedule.size(), 2U);
  EXPECT_EQ(cluster.schedule[0].time, 3600);
  EXPECT_FALSE(cluster.schedule[0].joins);
  EXPECT_EQ(cluster.schedule[1].node, NodeId{4});
}

TEST_F(ClusterFileTest, PartitionsOfNodesNeedNotBeDeclared) {
  const ClusterSpec cluster = read_content(
      "[[nodes]]\ngpus = 1\npartition = \"a\"\n[[nodes]]\ngpus = 1\npartition = \"b\"\n");
  ASSERT_EQ(cluster.partitions.size(), 2U);
  EXPECT_EQ(text(cluster.partitions[1].name), "b");
  EXPECT_EQ(cluster.partitions[1].quota, 0);
}

TEST_F(ClusterFileTest, TomlMistakesNameTheLine) {
  EXPECT_THAT(content_error("[[nodes]]\ngpus = 8\ngpu_typ = \"x\"\n"),
              HasSubstr("cluster.file:3: [[nodes]]: no key 'gpu_typ'; did you mean 'gpu_type'?"));
  EXPECT_THAT(content_error("[[nodes]]\ncount = 3\n"), HasSubstr(":1: [[nodes]] lacks 'gpus'"));
  EXPECT_THAT(content_error("[[nodes]]\ngpus = 65\n"),
              HasSubstr(":2: gpus in [[nodes]]: found 65, expected a whole number from 1 to 64"));
  EXPECT_THAT(content_error("[[nodes]]\ngpus = 0\n"), HasSubstr("found 0"));
  EXPECT_THAT(content_error("[[nodes]]\ngpus = 8\ncount = -1\n"), HasSubstr("found -1"));
  EXPECT_THAT(content_error("[[nodes]]\ngpus = 8\ncpus = nan\n"),
              HasSubstr("expected a number of at least 0"));
  EXPECT_THAT(content_error("[[nodes]]\ngpus = \"8\"\n"), HasSubstr("found '8'"));
  EXPECT_THAT(content_error("[[nodes]]\ngpus = 8\nrack = 1\nnodes_per_rack = 2\n"),
              HasSubstr("choose one"));
  EXPECT_THAT(
      content_error("[[nodes]]\ngpus = 8\nname = \"a\"\n[[nodes]]\ngpus = 8\nname = \"a\"\n"),
      HasSubstr("two nodes are named 'a'"));
  EXPECT_THAT(
      content_error("[[nodes]]\ngpus = 8\n[[changes]]\ntime_s = 1\nnode = 1\njoins = true\n"),
      HasSubstr(":5: node in [[changes]]: found 1"));
  EXPECT_THAT(
      content_error("[[nodes]]\ngpus = 8\n[[changes]]\ntime_s = 1\nnode = \"x\"\njoins = true\n"),
      HasSubstr("there is no node 'x'"));
  EXPECT_THAT(content_error("[[nodes]]\ngpus = 8\n[[changes]]\ntime_s = 1\n"),
              HasSubstr("lacks 'node'"));
  EXPECT_THAT(content_error("[nodes]\ngpus = 8\n"), HasSubstr("'nodes' must be a list of tables"));
  EXPECT_THAT(content_error("[[partitions]]\nname = \"a\"\n"),
              HasSubstr("a cluster file lacks 'nodes'"));
  EXPECT_THAT(content_error("[[nodes]\n"), HasSubstr("cluster.file:1:"));
  EXPECT_THAT(
      content_error(
          "[[nodes]]\ngpus = 8\n[[partitions]]\nname = \"a\"\n[[partitions]]\nname = \"a\"\n"),
      HasSubstr("the name of an earlier one"));
  EXPECT_THAT(content_error(""), HasSubstr("empty"));
}

TEST_F(ClusterFileTest, SwitchesOfTheTiresiasFamily) {
  const ClusterSpec cluster = read_content(
      "num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node\n2,3,4,64,256\n");
  ASSERT_EQ(cluster.nodes.size(), 6U);
  EXPECT_EQ(cluster.total_gpus(), 24);
  EXPECT_EQ(cluster.nodes[2].rack, 0);
  EXPECT_EQ(cluster.nodes[3].rack, 1);
  EXPECT_EQ(cluster.nodes[3].cpus, 64);
  EXPECT_EQ(cluster.nodes[3].memory_gb, 256);
  EXPECT_THAT(
      content_error(
          "num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node\n2,3,x,64,256\n"),
      HasSubstr(":2: column num_gpu_p_node: found 'x'"));
  EXPECT_THAT(
      content_error(
          "num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node\n2,3,0,64,256\n"),
      HasSubstr("node 0 has 0 GPUs"));
}

TEST_F(ClusterFileTest, VirtualClustersOfLucid) {
  const ClusterSpec cluster = read_content(",num\nvcA,2\nvcB,1\n");
  ASSERT_EQ(cluster.nodes.size(), 3U);
  EXPECT_EQ(cluster.total_gpus(), 24);
  EXPECT_EQ(text(cluster.nodes[2].partition), "vcB");
  EXPECT_EQ(cluster.partitions.size(), 2U);
}

TEST_F(ClusterFileTest, NodeListOfOpenb) {
  const ClusterSpec cluster = read_content(
      "sn,cpu_milli,memory_mib,gpu,model\nn-0,64000,262144,2,P100\nn-1,96000,1024,0,\nn-2,32000,"
      "2048,1,T4\n");
  ASSERT_EQ(cluster.nodes.size(), 2U);
  EXPECT_EQ(text(cluster.nodes[1].name), "n-2");
  EXPECT_EQ(cluster.nodes[0].cpus, 64);
  EXPECT_EQ(cluster.nodes[0].memory_gb, 256);
}

TEST_F(ClusterFileTest, GavelsJson) {
  EXPECT_EQ(read_content(R"({"philly": ["5:0:0"]})").total_gpus(), 5);
  EXPECT_THAT(content_error(R"({"a": ["5:0:0"], "b": ["1:1:1"]})"),
              HasSubstr("expected one cluster"));
  EXPECT_THAT(content_error("{\"a\": "), HasSubstr("expected one cluster"));
}

TEST_F(ClusterFileTest, PublishedFiles) {
  MUSTER_NEEDS_SHARED("data/openb/openb_node_list_gpu_node.csv");
  const auto shared = [](const std::string& file) {
    return (shared_dir() / "data" / file).string();
  };
  const ClusterSpec openb = read(shared("openb/openb_node_list_gpu_node.csv"));
  EXPECT_EQ(openb.nodes.size(), 1213U);
  EXPECT_EQ(openb.total_gpus(), 6212);
  EXPECT_EQ(read(shared("lucid/venus_vc_config.csv")).total_gpus(), 1080);
  EXPECT_EQ(read(shared("muri/n8g8.csv")).total_gpus(), 64);
  EXPECT_EQ(read(shared("tiresias/n160g8.csv")).total_gpus(), 1280);
  EXPECT_EQ(read(shared("elasticflow/cluster_specs/n16g8.csv")).total_gpus(), 128);
  EXPECT_EQ(read(shared("gavel/msr/cluster_specs.json")).total_gpus(), 500);
  EXPECT_EQ(read(shared("gavel/msr/cluster_specs_heterogeneous.json")).total_gpus(), 900);
}

}  // namespace
}  // namespace muster
