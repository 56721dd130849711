// What Slurm's programs print, in the forms of several releases.
#include "backend/slurm/rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "backend/slurm/command.h"
#include "backend/slurm/found_job.h"
#include "backend/slurm/hostlist.h"
#include "backend/slurm/mark.h"
#include "backend/slurm/slurm_cluster.h"
#include "backend/slurm/slurm_script.h"
#include "support/hostile_names.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Hostlist, IsExpanded) {
  EXPECT_THAT(expand_hostlist("").value(), ElementsAre());
  EXPECT_THAT(expand_hostlist("a").value(), ElementsAre("a"));
  EXPECT_THAT(expand_hostlist("n[1-3,07],login").value(),
              ElementsAre("n1", "n2", "n3", "n07", "login"));
  EXPECT_THAT(expand_hostlist("r[1-2]n[08-10]").value(),
              ElementsAre("r1n08", "r1n09", "r1n10", "r2n08", "r2n09", "r2n10"));
  EXPECT_THAT(expand_hostlist("n[1]-ib").value(), ElementsAre("n1-ib"));
}

TEST(Hostlist, RefusesWhatIsNone) {
  for (const char* text : {"n[", "n]", "n[3-1]", "n[a]", "n[[1]]", "n[1-]", "n[-1]", "n[]",
                           "n[0-99999999999999999999]", "n[1-1000]m[1-1000]", "n[1-200000]"}) {
    EXPECT_FALSE(expand_hostlist(text)) << text;
  }
}

TEST(SlurmGres, IsReadInEverySpelling) {
  const auto gpus = [](const char* text) { return count_of(parse_gres(text), "gpu"); };
  EXPECT_EQ(gpus("gpu:v100:4(S:0-1),shard:v100:16"), 4);
  EXPECT_EQ(gpus("gpu:2,gpu:1"), 3);
  EXPECT_EQ(gpus("gres:gpu:2"), 2);
  EXPECT_EQ(gpus("gres/gpu=2"), 2);
  EXPECT_EQ(gpus("gres/gpu:a100=2"), 2);
  EXPECT_EQ(gpus("gres:gpu"), 1);
  EXPECT_EQ(gpus("gpu:a100"), 1);
  EXPECT_EQ(gpus("gpu:a100:3(IDX:0,2-3)"), 3);
  EXPECT_EQ(gpus("craynetwork:4,gpu:1K"), 1024);
  EXPECT_EQ(gpus("gpu:-1,gpu:x:y,gpu:1:2:3,,gpu:a100:999999999999"), 0);
  EXPECT_EQ(count_of(parse_gres("gpu:v100:4,shard:v100:16"), "shard"), 16);
  EXPECT_EQ(type_of(parse_gres("gpu:v100:4(S:0)"), "gpu"), "v100");
  EXPECT_EQ(type_of(parse_gres("gpu:v100:4,gpu:a100:1"), "gpu"), "");
  EXPECT_EQ(parse_gres("gpu:1g.5gb"), (std::vector<Gres>{{"gpu", "1g.5gb", 1}}));
}

TEST(SlurmMarks, ReadBackAsTheyWereWritten) {
  const SlurmMark own{"3f9c", "", {JobId{17}, 2}, 1, 4};
  const SlurmMark found{"3f9c", "ab12", {JobId{0}, 0}, 0, 0};
  EXPECT_EQ(mark_text(own), "muster/3f9c/-/17/2/1/4");
  EXPECT_EQ(parse_mark(mark_text(own)), own);
  EXPECT_EQ(parse_mark(mark_text(found)), found);
  for (const char* text : {"", "muster", "muster/3f9c/-/17/2/1", "muster/3f9c/-/017/2/1/4",
                           "muster/3F9C/-/17/2/1/4", "muster//-/17/2/1/4", "muster/a/-/1/1/1/-1",
                           "muster/a/-/1/1/1/1 ", "muster/a/-/4294967295/1/1/1"}) {
    EXPECT_FALSE(parse_mark(text)) << text;
  }
  const SlurmOrigin origin{12, "ab12"};
  EXPECT_EQ(origin_text(origin), "slurm:12@ab12");
  EXPECT_EQ(parse_origin("slurm:12@ab12"), origin);
  for (const char* text : {"", "slurm:", "slurm:x@a", "slurm:1@", "slurm:1@A", "slurm:01@a"}) {
    EXPECT_FALSE(parse_origin(text)) << text;
  }
}

// As release 22.05 writes it, shortened.
nlohmann::json job_row() {
  return nlohmann::json::parse(R"({
    "job_id": 12, "job_state": "PENDING", "state_reason": "JobHeldUser", "priority": 0,
    "array_task_string": "", "het_job_id": 0, "batch_flag": true, "user_id": 1000,
    "user_name": "ann", "name": "train", "comment": "", "admin_comment": "", "partition": "gpu",
    "command": "/home/ann/job.sh", "current_working_directory": "/home/ann", "restart_cnt": 2,
    "exit_code": 0, "submit_time": 1794830361, "start_time": 0, "end_time": 0, "time_limit": 90,
    "tasks": 2, "cpus": 8, "node_count": 2, "nodes": "", "gres_detail": [],
    "tres_per_job": "", "tres_per_node": "gres:gpu:4", "tres_per_task": "", "tres_per_socket": ""
  })");
}

Result<SlurmRows<SlurmJob>> rows_with(const nlohmann::json& row) {
  return parse_jobs(nlohmann::json{{"jobs", {row}}, {"errors", nlohmann::json::array()}}.dump());
}

TEST(SlurmRows, AJobIsRead) {
  const SlurmJob job = rows_with(job_row())->rows.at(0);
  EXPECT_EQ(job.id, 12U);
  EXPECT_EQ(job.state, SlurmState::kPending);
  EXPECT_TRUE(job.held);
  EXPECT_EQ(job.user, "ann");
  EXPECT_EQ(job.restarts, 2U);
  EXPECT_EQ(job.time_limit, 5400);
  EXPECT_EQ(gpus_wanted(job), 8);
  EXPECT_EQ(gpu_type_wanted(job), "");
  EXPECT_EQ(unfit_to_schedule(job), "");
}

TEST(SlurmRows, LaterReleasesAreReadToo) {
  nlohmann::json row = job_row();
  row["job_state"] = {"RUNNING", "COMPLETING"};
  row["priority"] = {{"set", true}, {"infinite", false}, {"number", 7}};
  row["time_limit"] = {{"set", true}, {"infinite", true}, {"number", 0}};
  row["node_count"] = {{"set", true}, {"infinite", false}, {"number", 1}};
  row["tres_per_node"] = "gres/gpu:a100:3";
  row["exit_code"] = {{"status", {"SIGNALED"}},
                      {"return_code", {{"set", true}, {"number", 0}}},
                      {"signal", {{"id", {{"set", true}, {"number", 9}}}, {"name", "KILL"}}}};
  const SlurmJob job = rows_with(row)->rows.at(0);
  EXPECT_EQ(job.state, SlurmState::kCompleting);
  EXPECT_FALSE(job.held);
  EXPECT_EQ(job.time_limit, 0);
  EXPECT_EQ(job.exit_code, 137);
  EXPECT_EQ(gpus_wanted(job), 3);
  EXPECT_EQ(gpu_type_wanted(job), "a100");
}

TEST(SlurmRows, ExitCodesAreThoseOfWait) {
  nlohmann::json row = job_row();
  row["exit_code"] = 7 << 8;
  EXPECT_EQ(rows_with(row)->rows.at(0).exit_code, 7);
  row["exit_code"] = 15;
  EXPECT_EQ(rows_with(row)->rows.at(0).exit_code, 143);
}

TEST(SlurmRows, NamesMayHoldAnything) {
  for (const std::string& name : hostile_names()) {
    nlohmann::json row = job_row();
    row["name"] = name;
    row["comment"] = name;
    const std::string text = nlohmann::json{{"jobs", {row, job_row()}}}.dump(
        -1, ' ', false, nlohmann::json::error_handler_t::replace);
    const auto rows = parse_jobs(text);
    ASSERT_TRUE(rows);
    ASSERT_EQ(rows->rows.size(), 2U) << name;
    const std::string described = found_description(rows->rows[0], {}, "slurm:12@a");
    const auto json = nlohmann::json::parse(described, nullptr, false);
    ASSERT_FALSE(json.is_discarded()) << name;
    for (const char c : json["name"].get<std::string>()) {
      EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) << name;
    }
  }
}

TEST(SlurmRows, GarbageIsAnErrorOrLeftOut) {
  for (const char* text : {"", "garbage", "[]", "{}", "{\"jobs\": 3}", "null", "{\"jobs\": [",
                           "{\"errors\": [{\"error\": \"x\"}], \"jobs\": []}"}) {
    EXPECT_FALSE(parse_jobs(text)) << text;
    EXPECT_FALSE(parse_nodes(text)) << text;
  }
  const auto rows = parse_jobs(R"({"jobs": [3, {}, {"job_id": 1}, {"job_id": "x", "job_state": 4},
                                            {"job_id": 5, "job_state": "NEW_ONE"}]})");
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->left_out, 4U);
  ASSERT_EQ(rows->rows.size(), 1U);
  EXPECT_EQ(rows->rows[0].state, SlurmState::kUnknown);
}

TEST(SlurmRows, WhatCannotBeScheduledIsNamed) {
  const auto why = [](const char* key, const nlohmann::json& value) {
    nlohmann::json row = job_row();
    row[key] = value;
    return unfit_to_schedule(rows_with(row)->rows.at(0));
  };
  EXPECT_THAT(why("array_task_string", "0-99%5"), HasSubstr("array"));
  EXPECT_THAT(why("het_job_id", 11), HasSubstr("heterogeneous"));
  EXPECT_THAT(why("batch_flag", false), HasSubstr("requeued"));
  EXPECT_THAT(why("tres_per_node", ""), HasSubstr("no GPU"));
  EXPECT_THAT(why("tres_per_node", "gres:gpu:v100:1,gres:gpu:a100:1"), HasSubstr("several types"));
  EXPECT_THAT(why("tres_per_socket", "gres:gpu:1"), HasSubstr("per socket"));
}

std::vector<SlurmNode> nodes_of(const char* text) { return parse_nodes(text)->rows; }

constexpr const char* kNodes = R"({"nodes": [
  {"name": "n10", "state": "idle", "state_flags": [], "partitions": ["all", "v100"],
   "gres": "gpu:v100:4,shard:v100:16", "cpus": 16, "real_memory": 65536, "reason": ""},
  {"name": "n2", "state": "mixed", "state_flags": ["DRAIN"], "partitions": ["all", "v100"],
   "gres": "gpu:v100:4", "cpus": 16, "real_memory": 65536, "reason": "fan"},
  {"name": "n3", "state": ["DOWN", "NOT_RESPONDING"], "partitions": ["all", "a100"],
   "gres": "gpu:a100:8", "cpus": 32, "real_memory": 65536},
  {"name": "login", "state": "idle", "partitions": ["all"], "gres": ""},
  {"name": "odd", "state": "idle", "partitions": ["all"], "gres": "gpu:a:1,gpu:b:1"}]})";

TEST(SlurmNodes, StatesAreRead) {
  const auto nodes = nodes_of(kNodes);
  ASSERT_EQ(nodes.size(), 5U);
  EXPECT_TRUE(nodes[0].up && !nodes[0].drained);
  EXPECT_TRUE(nodes[1].up && nodes[1].drained);
  EXPECT_EQ(nodes[1].state, "MIXED DRAIN: fan");
  EXPECT_FALSE(nodes[2].up);
}

TEST(SlurmNodes, ThoseOfThePartitionsMakeTheCluster) {
  std::vector<std::string> notes;
  const auto cluster = SlurmCluster::find(nodes_of(kNodes), {"v100", "a100"}, notes);
  ASSERT_TRUE(cluster);
  ASSERT_EQ(cluster->hosts().size(), 3U);
  EXPECT_EQ(cluster->host(NodeId{0}).name, "n2");
  EXPECT_EQ(cluster->host(NodeId{2}).name, "n10");
  EXPECT_EQ(cluster->host(NodeId{2}).shards, 4);
  EXPECT_EQ(cluster->node("login"), kNoNode);
  EXPECT_THAT(cluster->toml(), HasSubstr("name = \"n3\"\npartition = \"a100\"\ngpus = 8\n"));
  const auto all = SlurmCluster::find(nodes_of(kNodes), {"all"}, notes);
  ASSERT_TRUE(all);
  EXPECT_THAT(notes, ElementsAre("node login is left out: it has no GPUs",
                                 "node odd is left out: it has GPUs of several types"));
  EXPECT_THAT(SlurmCluster::find(nodes_of(kNodes), {"all", "v100"}, notes).error().message,
              HasSubstr("node n10 is in the partitions all and v100"));
  EXPECT_THAT(SlurmCluster::find(nodes_of(kNodes), {"v10"}, notes).error().message,
              HasSubstr("no partition 'v10'; did you mean 'v100'?"));
}

TEST(SlurmScript, WordsMeanThemselvesToAShell) {
  for (const std::string& name : hostile_names(std::string_view("\0", 1))) {
    EXPECT_EQ(output_of({"sh", "-c", "printf %s " + shell_word(name)}).value(), name);
  }
}

}  // namespace
}  // namespace muster
