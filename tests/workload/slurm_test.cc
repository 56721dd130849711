// What Slurm writes about jobs and nodes, as its own commands wrote it, and what it becomes.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"
#include "workload/cluster_slurm.h"
#include "workload/formats/slurm_text.h"
#include "workload/trace_reader.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Spelling {
  const char* text;
  int gpus;
  const char* type;
  int shards = 0;
};

TEST(SlurmText, EverySpellingOfResources) {
  for (const Spelling& spelling : std::vector<Spelling>{
           {"", 0, ""},
           {"(null)", 0, ""},
           {"N/A", 0, ""},
           {"gpu", 1, ""},
           {"gpu:2", 2, ""},
           {"gpu:v100", 1, "v100"},
           {"gpu:v100:2", 2, "v100"},
           {"gpu:v100:2(S:0)", 2, "v100"},
           {"gpu:a100:8(S:0-1),shard:a100:16(S:0-1)", 8, "a100", 16},
           {"gpu:a100:2(IDX:0,3),gpu:v100:1(IDX:N/A)", 3, ""},
           {"gpu:a100:4(S:0),gpu:a100:4(S:1)", 8, "a100"},
           {"gres:gpu:2", 2, ""},
           {"gres:gpu:v100:2(S:0)", 2, "v100"},
           {"gres/gpu:v100:2", 2, "v100"},
           {"gres/gpu=2", 2, ""},
           {"gres/gpu:v100=2", 2, "v100"},
           {"billing=8,cpu=8,gres/gpu:a100=2,gres/gpu=2,mem=64G,node=1", 2, "a100"},
           {"cpu=8,gres/gpu=3,gres/gpu:a100=1,gres/gpu:t4=2", 3, ""},
           {"gres/gpu=4,gres/gpumem=20G,gres/gpuutil=80", 4, ""},
           {"gres/shard=3", 0, "", 3},
           {"gres:mps:50,nic:2,gpu:1080:4", 4, "1080"},
       }) {
    TrackableResources found;
    ASSERT_TRUE(read_tres(spelling.text, found)) << spelling.text;
    EXPECT_EQ(found.gpus, spelling.gpus) << spelling.text;
    EXPECT_EQ(found.gpu_type, spelling.type) << spelling.text;
    EXPECT_EQ(found.shards, spelling.shards) << spelling.text;
  }
  TrackableResources found;
  ASSERT_TRUE(read_tres("cpu=12,mem=1536M,gres/gpu=1", found));
  EXPECT_EQ(found.cpus, 12);
  EXPECT_EQ(found.memory_gb, 1.5);
  for (const char* wrong : {"gres/gpu=some", "gres/gpu=", "gpu:v100:many", "gpu:-1:2:x", "cpu=x",
                            "mem=1X", "some", "gpu:9999999999"}) {
    TrackableResources ignored;
    EXPECT_FALSE(read_tres(wrong, ignored)) << wrong;
  }
}

TEST(SlurmText, TasksOfArrays) {
  const auto tasks = [](std::string_view name, std::size_t most = 100) {
    std::vector<std::string> found;
    return expand_array(name, most, found) ? found : std::vector<std::string>{"unreadable"};
  };
  EXPECT_THAT(tasks("12"), ElementsAre("12"));
  EXPECT_THAT(tasks("12_4"), ElementsAre("12_4"));
  EXPECT_THAT(tasks("12_[3,5-9:2%4]"), ElementsAre("12_3", "12_5", "12_7", "12_9"));
  EXPECT_THAT(tasks("12_[0-1]"), ElementsAre("12_0", "12_1"));
  for (const char* wrong : {"12_[1-", "12_[a]", "12_[1-5:0]", "12_[]", "12_[1-...]"}) {
    EXPECT_THAT(tasks(wrong), ElementsAre("unreadable")) << wrong;
  }
  EXPECT_THAT(tasks("12_[1-2147483646]"), ElementsAre("unreadable"));
}

class SacctTest : public ::testing::Test {
 protected:
  static constexpr const char* kHeader =
      "JobID|User|Partition|Submit|Start|End|ElapsedRaw|State|ReqTRES|AllocTRES|TimelimitRaw\n";

  Trace load(const std::string& content, const ParamTexts& settings = {}) {
    TraceOptions options;
    options.settings = settings;
    auto trace = load_trace(folder_.write("trace", content), options, symbols_);
    if (trace) return std::move(*trace);
    ADD_FAILURE() << trace.error().message;
    return {};
  }
  std::string load_error(const std::string& content) {
    const auto trace = load_trace(folder_.write("trace", content), {}, symbols_);
    return trace ? "it was read" : trace.error().message;
  }

  TemporaryFolder folder_;
  Symbols symbols_;
};

TEST_F(SacctTest, PartsOfAHeterogeneousJobAreOneJob) {
  const Trace trace =
      load(std::string(kHeader) +
           "2+0|ann|all|2026-11-16T12:03:11|2026-11-16T12:03:16|2026-11-16T12:03:19|3|COMPLETED|"
           "cpu=1,gres/gpu=2,mem=64G|cpu=1,gres/gpu:v100=2,gres/gpu=2|5\n"
           "2+0.batch|||2026-11-16T12:03:16|2026-11-16T12:03:16|2026-11-16T12:03:19|3|COMPLETED||"
           "cpu=1,gres/gpu:v100=2,gres/gpu=2|\n"
           "2+1|ann|all|2026-11-16T12:03:11|2026-11-16T12:03:16|2026-11-16T12:03:20|4|COMPLETED|"
           "cpu=2,gres/gpu:a100=1,gres/gpu=1|cpu=2,gres/gpu:a100=1,gres/gpu=1|10\n"
           "7|ann|all|2026-11-16T12:03:12|2026-11-16T12:03:16|2026-11-16T12:03:18|2|COMPLETED|"
           "gres/gpu=1|gres/gpu=1|UNLIMITED\n");
  ASSERT_EQ(trace.jobs.size(), 2U);
  const JobSpec& job = trace.jobs[0];
  EXPECT_EQ(job.name, "2");
  EXPECT_EQ(job.gpus, 3);
  EXPECT_EQ(job.cpus, 3);
  EXPECT_EQ(job.memory_gb, 0);  // nobody was given any: memory is not shared out there
  EXPECT_EQ(job.duration, 4);
  EXPECT_EQ(job.estimate, 600);
  EXPECT_EQ(job.gpu_type, kNoSymbol);
  EXPECT_EQ(trace.jobs[1].estimate, 0);
  EXPECT_EQ(trace.stats.records, 4U);
  EXPECT_EQ(trace.stats.skipped.at("it is a step of a job"), 1U);
  EXPECT_THAT(trace.stats.notes, ElementsAre(HasSubstr("1 heterogeneous jobs")));
  // What happened: waits of 5 and 4 s, completed after 9 and 6.
  EXPECT_EQ(trace.stats.fate.jobs, 2U);
  EXPECT_EQ(trace.stats.fate.mean_wait(), 4.5);
  EXPECT_EQ(trace.stats.fate.mean_completion(), 7.5);
  EXPECT_EQ(trace.stats.fate.makespan(), 9);
}

TEST_F(SacctTest, RequeuedJobsCountOnce) {
  const std::string twice =
      std::string(kHeader) +
      "2|ann|all|2026-11-16T12:06:15|2026-11-16T12:06:16|2026-11-16T12:06:18|2|REQUEUED|"
      "gres/gpu:a100=2,gres/gpu=2||UNLIMITED\n"
      "3|ann|all|2026-11-16T12:06:15|2026-11-16T12:06:16|2026-11-16T12:06:18|2|PREEMPTED|"
      "gres/gpu=1||60\n"
      "4|ann|all|2026-11-16T12:06:16|2026-11-16T12:06:16|2026-11-16T12:06:19|3|NODE_FAIL|"
      "gres/gpu=1||60\n"
      "5|ann|all|2026-11-16T12:06:17|2026-11-16T12:06:17|2026-11-16T12:06:20|3|REQUEUED|"
      "gres/gpu=1||60\n"
      "6|ann|all|2026-11-16T12:06:17|2026-11-16T12:06:17|2026-11-16T12:06:20|3|RESIZING|"
      "gres/gpu=4||60\n"
      "2|ann|all|2026-11-16T12:06:18|2026-11-16T12:06:19|2026-11-16T12:06:24|5|COMPLETED|"
      "gres/gpu:a100=2,gres/gpu=2||UNLIMITED\n"
      "3|ann|all|2026-11-16T12:06:18|2026-11-16T12:06:20|2026-11-16T12:06:27|7|COMPLETED|"
      "gres/gpu=1||60\n"
      "6|ann|all|2026-11-16T12:06:17|2026-11-16T12:06:20|2026-11-16T12:06:24|4|COMPLETED|"
      "gres/gpu=2||60\n";
  const Trace trace = load(twice);
  ASSERT_EQ(trace.jobs.size(), 4U);
  EXPECT_EQ(trace.jobs[0].name, "2");
  EXPECT_EQ(trace.jobs[0].submit, 0);  // the first submission counts
  EXPECT_EQ(trace.jobs[0].duration, 5);
  EXPECT_EQ(trace.jobs[1].duration, 7);
  EXPECT_EQ(trace.jobs[2].name, "4");  // nobody started it again
  EXPECT_EQ(trace.jobs[2].duration, 3);
  EXPECT_EQ(trace.jobs[3].duration, 7);  // it ran on with fewer GPUs
  EXPECT_EQ(trace.jobs[3].gpus, 2);
  EXPECT_EQ(trace.stats.skipped.at("it had not ended when the log was written"), 1U);
  EXPECT_THAT(trace.stats.notes, ElementsAre(HasSubstr("2 earlier runs of requeued jobs do not")));
  const Trace sum = load(twice, {{"requeues", "sum"}});
  EXPECT_EQ(sum.jobs[0].duration, 7);
  EXPECT_EQ(sum.jobs[1].duration, 9);
}

TEST_F(SacctTest, JobsThatWaitOrRunAreSkippedOrKept) {
  const std::string open =
      std::string(kHeader) +
      "1|ann|all|2026-11-16T12:00:00|2026-11-16T12:00:00|2026-11-16T12:00:10|10|COMPLETED|"
      "gres/gpu=1||60\n"
      "8|ann|v100,a100|2026-11-16T12:06:15|Unknown|Unknown|0|PENDING|gres/gpu=12||Partition_Limit\n"
      "9|ann|v100,a100|2026-11-16T12:06:15|Unknown|Unknown|0|PENDING|gres/gpu=12||60\n"
      "10|ann|v100|2026-11-16T12:06:15|2026-11-16T12:06:16|Unknown|90|RUNNING|gres/"
      "gpu=1||UNLIMITED\n"
      "11|ann|v100|2026-11-16T12:06:15|2026-11-16T12:06:16|Unknown|90|RUNNING|gres/gpu=1||1\n"
      "12_[2-4%2]|ann|v100|2026-11-16T12:06:15|Unknown|Unknown|0|PENDING|gres/gpu=1||60\n"
      "13|ann|all|2026-11-16T12:06:15|None|2026-11-16T12:07:00|0|CANCELLED by 0|gres/gpu=1||60\n"
      "14|ann|all|2026-11-16T12:06:15|2026-11-16T12:07:00|2026-11-16T12:07:00|0|FAILED|gres/gpu=1||"
      "60\n"
      "15|ann|all|2026-11-16T12:06:15|2026-11-16T12:07:00|2026-11-16T12:07:09|9|COMPLETED|"
      "gres/shard=3||60\n";
  const Trace skipped = load(open);
  ASSERT_EQ(skipped.jobs.size(), 1U);
  EXPECT_EQ(skipped.stats.skipped.at("it had not ended when the log was written"), 5U);
  EXPECT_EQ(skipped.stats.skipped.at("it never ran"), 1U);
  EXPECT_EQ(skipped.stats.skipped.at("it ran for less than a second"), 1U);
  EXPECT_EQ(skipped.stats.skipped.at("it uses only parts of GPUs (shards)"), 1U);

  const Trace kept = load(open, {{"unfinished", "keep"}});
  std::vector<std::string> names;
  std::vector<double> durations;
  for (const JobSpec& job : kept.jobs) {
    names.push_back(job.name);
    durations.push_back(job.duration);
  }
  EXPECT_THAT(names, ElementsAre("1", "9", "10", "11", "12_2", "12_3", "12_4"));
  EXPECT_THAT(durations, ElementsAre(10, 3600, 90, 90, 3600, 3600, 3600));
  EXPECT_EQ(symbols_.text(kept.jobs[1].partition), "v100");
  EXPECT_EQ(kept.stats.skipped.at("it waits, and has no time limit to go by"), 1U);
  EXPECT_EQ(kept.stats.fate.jobs, 1U);
}

TEST_F(SacctTest, NamesMayHoldAnything) {
  // sacct quotes nothing: this is what it writes of a name with a line end and a '|'.
  const Trace trace = load(
      "JobID|JobName|User|Submit|ElapsedRaw|State|ReqTRES|Timelimit\n"
      "4|new\nline|pipe|root|2026-11-16T12:03:11|1|COMPLETED|gres/gpu=1|365-00:00:00\n"
      "5|\"quoted, `x` $(rm -rf) ; '|root|2026-11-16T12:03:12|2|COMPLETED|gres/gpu=1|UNLIMITED\n"
      "6|\n\n|||root|2026-11-16T12:03:13|3|COMPLETED|gres/gpu=2|00:01:00\n"
      "7|plain|root|2026-11-16T12:03:14|4|COMPLETED|gres/gpu=1|Partition_Limit\n");
  ASSERT_EQ(trace.jobs.size(), 4U);
  EXPECT_THAT(trace.stats.skipped, IsEmpty());
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(trace.jobs[i].name, std::to_string(i + 4));
    EXPECT_EQ(trace.jobs[i].duration, static_cast<double>(i + 1));
    EXPECT_EQ(symbols_.text(trace.jobs[i].user), "root");
  }
  // A line that was cut off is not mended with the next, and is named.
  EXPECT_THAT(load_error("JobID|JobName|Submit|ElapsedRaw|State|ReqTRES\n"
                         "4|a\nb|2026-11-16T12:03:11|1|COMPLETED|gres/gpu=1\n"
                         "5|cut|2026-\n"
                         "6|whole|2026-11-16T12:03:11|1|COMPLETED|gres/gpu=1\n"),
              HasSubstr(":4: found '3 columns', expected 6"));
}

TEST_F(SacctTest, OlderColumnsAndSecondsSince1970) {
  const Trace trace = load(
      "JobID|Submit|Elapsed|State|ReqGRES|NNodes|Timelimit|\n"
      "1|1709280000|00:01:00|COMPLETED|gpu:v100:4|2|UNLIMITED|\n"
      "2|1709280005|00:01:00|COMPLETED|gpu:2(S:0)|1|1-00:00:00|\n");
  ASSERT_EQ(trace.jobs.size(), 2U);
  EXPECT_EQ(trace.jobs[0].gpus, 8);
  EXPECT_EQ(symbols_.text(trace.jobs[0].gpu_type), "v100");
  EXPECT_EQ(trace.jobs[1].gpus, 2);
  EXPECT_EQ(trace.jobs[1].submit, 5);
}

class SlurmNodesTest : public ::testing::Test {
 protected:
  SlurmNodes read(const std::string& content, const std::string& partition = "") {
    EXPECT_TRUE(is_slurm_nodes(content));
    auto nodes = parse_slurm_nodes(content, "nodes", partition, symbols_);
    if (nodes) return std::move(*nodes);
    ADD_FAILURE() << nodes.error().message;
    return {};
  }
  std::string read_error(const std::string& content, const std::string& partition = "") {
    const auto nodes = parse_slurm_nodes(content, "nodes", partition, symbols_);
    return nodes ? "it was read" : nodes.error().message;
  }
  // NAME:GPUS:TYPE:CPUS:MEMORY:PARTITION of each node.
  std::vector<std::string> shown(const ClusterSpec& cluster) const {
    std::vector<std::string> lines;
    for (const NodeSpec& node : cluster.nodes) {
      lines.push_back(symbols_.text(node.name) + " " + std::to_string(node.gpus) + " " +
                      symbols_.text(node.gpu_type) + " " + std::to_string(int(node.cpus)) + " " +
                      std::to_string(int(node.memory_gb)) + " " + symbols_.text(node.partition));
    }
    return lines;
  }

  static constexpr const char* kShown =
      "NodeName=n1 Arch=x86_64 CoresPerSocket=16 \n"
      "   CPUAlloc=0 CPUEfctv=14 CPUTot=16 CPULoad=2.74\n"
      "   AvailableFeatures=v100\n"
      "   Gres=gpu:v100:4(S:0-1),shard:v100:8\n"
      "   OS=Linux 6.1.0 #1 SMP PREEMPT_DYNAMIC @0 \n"
      "   RealMemory=65536 AllocMem=0 FreeMem=17479 Sockets=1 Boards=1\n"
      "   State=DOWN+DRAIN ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A\n"
      "   Partitions=all,v100 \n"
      "   Reason=Gres=gpu:9 RealMemory=0 is what somebody wrote [root@2026-11-16T12:00:00]\n"
      "\n"
      "NodeName=n2 CPUTot=32 Gres=gpu:a100:6,gpu:t4:2 RealMemory=131072 State=IDLE Partitions=all\n"
      "NodeName=login CPUTot=8 Gres=(null) RealMemory=1024 State=IDLE Partitions=all\n";

  Symbols symbols_;
};

TEST_F(SlurmNodesTest, WhatScontrolShows) {
  const SlurmNodes nodes = read(kShown);
  EXPECT_THAT(shown(nodes.cluster),
              ElementsAre("n1 4 v100 14 64 ", "n2:a100 6 a100 24 96 ", "n2:t4 2 t4 8 32 "));
  EXPECT_THAT(nodes.notes,
              ElementsAre("1 nodes without GPUs were left out",
                          "not in service now, but part of the cluster: n1 (DOWN+DRAIN)",
                          "nodes with several GPU types became one node for each: n2",
                          HasSubstr("the partitions all, v100 overlap")));
  EXPECT_THAT(shown(read(kShown, "v100").cluster), ElementsAre("n1 4 v100 14 64 v100"));
  EXPECT_THAT(read_error(kShown, "h100"), HasSubstr("no node is in the partition 'h100'; there "
                                                    "are: all, v100"));
}

TEST_F(SlurmNodesTest, WhatSinfoShows) {
  const std::string table =
      "NODELIST|GRES|CPUS|MEMORY|AVAIL_FEATURES|PARTITION|STATE\n"
      "n1|gpu:v100:4|16|65536|v100|all*|idle\n"
      "n2|gpu:a100:8|32+|65536|a100|all*|drained\n";
  const SlurmNodes nodes = read(table);
  EXPECT_THAT(shown(nodes.cluster), ElementsAre("n1 4 v100 16 64 all", "n2 8 a100 32 64 all"));
  EXPECT_THAT(nodes.notes, ElementsAre(HasSubstr("n2 (drained)")));
  const std::string overlapping = table + "n2|gpu:a100:8|32|65536|a100|big|drained\n";
  EXPECT_THAT(shown(read(overlapping).cluster),
              ElementsAre("n1 4 v100 16 64 ", "n2 8 a100 32 64 "));
  EXPECT_THAT(shown(read(overlapping, "big").cluster), ElementsAre("n2 8 a100 32 64 big"));
  EXPECT_THAT(read_error("NODELIST|GRES\nn[1-4]|gpu:2\n"), HasSubstr("give sinfo the option -N"));
  EXPECT_THAT(read_error("NODELIST|GRES|CPUS\nn1|gpu:2|many\n"),
              HasSubstr("nodes:2: CPUs of node 'n1': found 'many'"));
  EXPECT_THAT(read_error("NODELIST|GRES\nn1|(null)\n"), HasSubstr("none of the 1 nodes has GPUs"));
}

TEST_F(SlurmNodesTest, WhatSinfoWritesForPeopleNamesTheFormToUse) {
  for (const char* text :
       {"PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\nall*         up   infinite      4   "
        "idle n[1-4]\n",
        "Mon Nov 16 22:00:00 2026\nNODELIST   NODES PARTITION       STATE CPUS    S:C:T MEMORY\n"
        "n1             1      all*        idle 16     1:16:1  65536\n"}) {
    EXPECT_TRUE(is_slurm_nodes(text));
    EXPECT_THAT(read_error(text), HasSubstr("use the output of `scontrol show node`"));
  }
  EXPECT_FALSE(is_slurm_nodes("\n\n"));
  EXPECT_FALSE(is_slurm_nodes("[[nodes]]\nname = \"NODELIST STATE\"\n"));
}

TEST_F(SlurmNodesTest, WhatSinfoWritesAsJson) {
  EXPECT_THAT(shown(read(R"({"meta": {}, "nodes": [
        {"name": "n1", "gres": "gpu:v100:4,shard:v100:8", "cpus": 16, "real_memory": 65536,
         "partitions": ["all"], "state": "idle"},
        {"name": "n2", "gres": "gpu:8", "effective_cpus": 30, "cpus": 32,
         "real_memory": {"set": true, "number": 131072}, "partitions": ["all"], "state": ["IDLE"]}]})")
                        .cluster),
              ElementsAre("n1 4 v100 16 64 all", "n2 8  30 128 all"));
}

}  // namespace
}  // namespace muster
