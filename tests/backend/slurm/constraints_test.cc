// What users ask of their nodes, and when their jobs are due.
#include "backend/slurm/constraints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/slurm/dependency.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

// n1 and n2 with 4 v100 in "v", n3 and n4 with 8 a100 in "a", all of them in "all".
SlurmCluster two_types(const std::vector<std::string>& partitions) {
  std::vector<SlurmNode> nodes;
  for (int i = 1; i <= 4; ++i) {
    const bool old = i < 3;
    SlurmNode& node = nodes.emplace_back();
    node.name = "n" + std::to_string(i);
    node.partitions = {"all", old ? "v" : "a"};
    node.gres = {{"gpu", old ? "v100" : "a100", old ? 4 : 8}};
    node.features = old ? "v100,ib" : "a100,ib";
  }
  std::vector<std::string> notes;
  return *SlurmCluster::find(nodes, partitions, notes);
}

SlurmJob asks_for(int gpus_per_node, const std::string& partition) {
  SlurmJob job;
  job.partition = partition;
  job.per_node = {{"gpu", "", gpus_per_node}};
  return job;
}

NodeConstraints in(const SlurmCluster& cluster, const SlurmJob& job, std::vector<int> free = {}) {
  return node_constraints(job, cluster, [&](NodeId node) {
    return free.empty() ? cluster.host(node).gpus : free.at(index(node));
  });
}

TEST(SlurmConstraints, WithoutAnyAllNodesWillDo) {
  const NodeConstraints constraints = in(two_types({"all"}), asks_for(2, "all"));
  EXPECT_EQ(constraints.unfit, "");
  EXPECT_EQ(constraints.partition, "all");
  EXPECT_EQ(constraints.gpu_type, "");
  EXPECT_EQ(constraints.max_nodes, 0);
}

TEST(SlurmConstraints, NodesAreATypeWhereTheyAreAllOfIt) {
  const SlurmCluster cluster = two_types({"all"});
  const auto type = [&](auto&& change) {
    SlurmJob job = asks_for(1, "all");
    change(job);
    const NodeConstraints constraints = in(cluster, job);
    EXPECT_EQ(constraints.unfit, "");
    return constraints.gpu_type;
  };
  EXPECT_EQ(type([](SlurmJob& job) { job.features = "a100"; }), "a100");
  EXPECT_EQ(type([](SlurmJob& job) { job.features = "ib&v100"; }), "v100");
  EXPECT_EQ(type([](SlurmJob& job) { job.features = "a100|v100"; }), "");
  EXPECT_EQ(type([](SlurmJob& job) { job.features = "ib"; }), "");
  EXPECT_EQ(type([](SlurmJob& job) { job.excluded = "n[1-2]"; }), "a100");
  EXPECT_EQ(type([](SlurmJob& job) { job.excluded = "n9"; }), "");
}

TEST(SlurmConstraints, WhatCannotBeSaidIsNotIgnored) {
  const SlurmCluster cluster = two_types({"all"});
  const auto why = [&](auto&& change) {
    SlurmJob job = asks_for(1, "all");
    change(job);
    return in(cluster, job).unfit;
  };
  EXPECT_THAT(why([](SlurmJob& job) { job.required = "n2"; }), HasSubstr("-w n2"));
  EXPECT_THAT(why([](SlurmJob& job) { job.excluded = "n1"; }), HasSubstr("-x n1"));
  EXPECT_THAT(why([](SlurmJob& job) { job.excluded = "n["; }), HasSubstr("cannot be read"));
  EXPECT_THAT(why([](SlurmJob& job) { job.features = "h100"; }), HasSubstr("no node of all"));
  EXPECT_THAT(why([](SlurmJob& job) { job.features = "[a100|v100]"; }), HasSubstr("constraint"));
  EXPECT_THAT(why([](SlurmJob& job) { job.features = "a100&ib|v100"; }), HasSubstr("constraint"));
}

TEST(SlurmConstraints, ANumberOfNodesIsKeptWhereTheyAreWhole) {
  const auto constraints = [](const char* partition, int nodes, int each) {
    SlurmJob job = asks_for(each, partition);
    job.nodes_wanted = job.max_nodes = nodes;
    return in(two_types({partition}), job);
  };
  EXPECT_EQ(constraints("v", 2, 4).unfit, "");
  EXPECT_EQ(constraints("v", 2, 4).max_nodes, 2);
  EXPECT_THAT(constraints("v", 2, 2).unfit, HasSubstr("4 GPUs on 2 nodes"));
  EXPECT_THAT(constraints("v", 2, 3).unfit, HasSubstr("6 GPUs on 2 nodes"));
  EXPECT_EQ(constraints("v", 1, 3).unfit, "");
  EXPECT_EQ(constraints("v", 1, 3).max_nodes, 1);
  // Eight on one node, or on each of two: that must be an a100.
  EXPECT_EQ(constraints("all", 1, 8).gpu_type, "a100");
  EXPECT_EQ(constraints("all", 2, 8).gpu_type, "a100");
  EXPECT_EQ(constraints("all", 2, 8).unfit, "");
}

TEST(SlurmConstraints, TasksOfANodeSayHowManyNodes) {
  SlurmJob job = asks_for(2, "v");
  job.tasks = 4;
  job.tasks_per_node = 2;
  job.nodes_wanted = 2;
  EXPECT_THAT(in(two_types({"v"}), job).unfit, HasSubstr("4 GPUs on 2 nodes"));
  job.nodes_wanted = 1;
  EXPECT_EQ(in(two_types({"v"}), job).unfit, "");
  EXPECT_EQ(in(two_types({"v"}), job).max_nodes, 1);
}

TEST(SlurmConstraints, OfSeveralPartitionsTheOneWithMostRoom) {
  const SlurmCluster cluster = two_types({"v", "a"});
  SlurmJob job = asks_for(1, "v,a");
  EXPECT_EQ(in(cluster, job, {4, 4, 1, 1}).partition, "v");
  EXPECT_EQ(in(cluster, job, {1, 0, 1, 1}).partition, "a");
  EXPECT_EQ(in(cluster, job, {0, 0, 0, 0}).partition, "v");
  job.features = "a100";
  EXPECT_EQ(in(cluster, job, {4, 4, 1, 1}).partition, "a");
  EXPECT_EQ(in(cluster, job, {4, 4, 1, 1}).unfit, "");
  job.features = "";
  job.per_node = {};
  job.per_job = {{"gpu", "", 12}};
  EXPECT_EQ(in(cluster, job, {4, 4, 1, 1}).partition, "a") << "the other never has so many";
}

SlurmJob in_state(std::uint32_t id, SlurmState state) {
  SlurmJob job;
  job.id = id;
  job.state = state;
  job.user_id = 1000;
  job.name = "train";
  return job;
}

TEST(SlurmDependency, IsJudgedByWhatSlurmKnows) {
  std::map<std::uint32_t, SlurmJob> rows;
  rows[1] = in_state(1, SlurmState::kRunning);
  rows[2] = in_state(2, SlurmState::kCompleted);
  rows[3] = in_state(3, SlurmState::kFailed);
  rows[4] = in_state(4, SlurmState::kPending);
  rows[12] = in_state(12, SlurmState::kRunning);
  rows[12].group = 11;  // a task of an array
  const auto when = [&](const char* text) {
    SlurmJob job = in_state(20, SlurmState::kPending);
    job.name = "other";
    job.dependency = text;
    return job_due(job, rows, 100);
  };
  EXPECT_EQ(when(""), JobDue::kNow);
  EXPECT_EQ(when("afterok:1(unfulfilled)"), JobDue::kLater);
  EXPECT_EQ(when("afterok:2(unfulfilled)"), JobDue::kNow);
  EXPECT_EQ(when("afterok:3(unfulfilled)"), JobDue::kInVain);
  EXPECT_EQ(when("afternotok:3(unfulfilled)"), JobDue::kNow);
  EXPECT_EQ(when("afternotok:2"), JobDue::kInVain);
  EXPECT_EQ(when("afterany:3"), JobDue::kNow);
  EXPECT_EQ(when("after:1+5(unfulfilled)"), JobDue::kNow);
  EXPECT_EQ(when("after:4"), JobDue::kLater);
  EXPECT_EQ(when("afterok:11_*(unfulfilled)"), JobDue::kLater);
  EXPECT_EQ(when("afterok:9(unfulfilled)"), JobDue::kNow) << "Slurm says when it is released";
  EXPECT_EQ(when("afterok:9(failed)"), JobDue::kInVain);
  EXPECT_EQ(when("afterok:2(unfulfilled),afterany:1(unfulfilled)"), JobDue::kLater);
  EXPECT_EQ(when("afterok:3(unfulfilled)?afterany:2(unfulfilled)"), JobDue::kNow);
  EXPECT_EQ(when("afterok:3(unfulfilled)?afterany:1(unfulfilled)"), JobDue::kLater);
  EXPECT_EQ(when("singleton(unfulfilled)"), JobDue::kNow);
}

TEST(SlurmDependency, SingletonsAndBeginTimesWait) {
  std::map<std::uint32_t, SlurmJob> rows;
  rows[1] = in_state(1, SlurmState::kPending);
  rows[30] = in_state(30, SlurmState::kPending);
  SlurmJob job = in_state(20, SlurmState::kPending);
  job.dependency = "singleton(unfulfilled)";
  EXPECT_EQ(job_due(job, rows, 100), JobDue::kLater);
  rows[1].state = SlurmState::kCompleted;
  EXPECT_EQ(job_due(job, rows, 100), JobDue::kNow);
  job.eligible = 101;
  EXPECT_EQ(job_due(job, rows, 100), JobDue::kLater);
  EXPECT_EQ(job_due(job, rows, 101), JobDue::kNow);
}

}  // namespace
}  // namespace muster
