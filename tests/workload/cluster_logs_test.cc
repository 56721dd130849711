// Logs of real clusters, and what each becomes.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workload/formats_fixture.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(FormatsTest, HeliosWithWallClockAndWithLucidsWorkloads) {
  const Trace clock = load(
      "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,"
      "queue\n"
      "5,u1,vcA,8,32,1,COMPLETED,2020-04-01 00:00:10,x,y,90,0\n"
      "6,u1,vcA,0,4,1,COMPLETED,2020-04-01 00:00:20,x,y,5,0\n"
      "7,u2,vcB,1,4,1,FAILED,2020-04-01 00:01:10,x,y,30,0\n",
      "helios");
  ASSERT_EQ(clock.jobs.size(), 2U);
  EXPECT_EQ(clock.jobs[1].submit, 60);
  EXPECT_EQ(clock.jobs[0].cpus, 32);
  EXPECT_EQ(text(clock.jobs[1].partition), "vcB");
  EXPECT_EQ(clock.stats.skipped.at("it uses no GPUs"), 1U);
  EXPECT_EQ(clock.stats.statuses.at("FAILED"), 1U);

  const Trace lucid = load(
      "job_id,user,vc,gpu_num,cpu_num,state,submit_time,duration,dataset,model,batchsize,amp\n"
      "5,u1,vcA,1,1,COMPLETED,518409,57,CIFAR-10,ResNet18,32,1\n"
      "6,u1,vcA,1,1,COMPLETED,518410,57,CIFAR-10,ResNet18,64,0\n",
      "helios");
  ASSERT_EQ(lucid.jobs.size(), 2U);
  EXPECT_EQ(lucid.jobs[0].submit, 518409);
  EXPECT_EQ(text(lucid.jobs[0].model), "ResNet18/CIFAR-10/32/amp");
  EXPECT_EQ(text(lucid.jobs[1].model), "ResNet18/CIFAR-10/64");
  EXPECT_EQ(lucid.jobs[1].batch_size, 64);
}

TEST_F(FormatsTest, StatusesCanBeChosen) {
  TraceOptions options;
  options.statuses = {"COMPLETED"};
  const Trace trace =
      load("job_id,vc,gpu_num,state,submit_time,duration\n5,a,1,COMPLETED,0,9\n6,a,1,FAILED,1,9\n",
           "helios", options);
  EXPECT_EQ(trace.jobs.size(), 1U);
  EXPECT_EQ(trace.stats.skipped.at("its status was not selected"), 1U);
}

TEST_F(FormatsTest, OpenbPods) {
  const Trace trace = load(
      "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_"
      "time,"
      "scheduled_time\n"
      "p0,12000,16384,1,460,T4,LS,Running,5,105,15\n"
      "p1,8000,1024,0,0,,LS,Running,6,105,15\n"
      "p2,8000,1024,8,1000,V100M16|V100M32,BE,Failed,7,37,7\n"
      "p3,8000,1024,1,1000,,BE,Pending,8,40,\n",
      "openb");
  ASSERT_EQ(trace.jobs.size(), 2U);
  EXPECT_EQ(trace.stats.records, 4U);
  EXPECT_EQ(trace.jobs[0].cpus, 12);
  EXPECT_EQ(trace.jobs[0].memory_gb, 16);
  EXPECT_EQ(trace.jobs[0].duration, 90);
  EXPECT_EQ(text(trace.jobs[0].gpu_type), "T4");
  EXPECT_EQ(trace.jobs[1].gpus, 8);
  EXPECT_EQ(trace.jobs[1].gpu_type, kNoSymbol);
  EXPECT_EQ(trace.stats.skipped.at("it uses no GPUs"), 1U);
  EXPECT_EQ(trace.stats.skipped.at("it was never scheduled"), 1U);
}

TEST_F(FormatsTest, StandardWorkloadFormat) {
  const std::string swf =
      "; UnixStartTime: 0\n;\n"
      "  1  10  5  100  4  -1 -1  8  200 2097152 1 3 1 2 1 6 -1 -1\n"
      "  2  20  5   50  4  -1 -1 -1   -1 -1 0 -1 1 -1 1 -1 -1 -1\n"
      "  3  30  5   -1 -1  -1 -1  2  200 -1 5 3 1 -1 1 1 -1 -1\n"
      "  4  40 -1    0 -1  -1 -1  2  200 -1 5 3 1 -1 1 1 -1 -1\n";
  const Trace trace = load(swf, "swf");
  ASSERT_EQ(trace.jobs.size(), 2U);
  EXPECT_EQ(trace.jobs[0].name, "1");
  EXPECT_EQ(trace.jobs[0].submit, 10);
  EXPECT_EQ(trace.jobs[0].duration, 100);
  EXPECT_EQ(trace.jobs[0].gpus, 8);
  EXPECT_EQ(trace.jobs[0].estimate, 200);
  EXPECT_EQ(trace.jobs[0].memory_gb, 16);
  EXPECT_EQ(text(trace.jobs[0].user), "user3");
  EXPECT_EQ(text(trace.jobs[0].partition), "partition6");
  EXPECT_EQ(trace.jobs[1].gpus, 4);
  EXPECT_EQ(trace.jobs[1].user, kNoSymbol);
  EXPECT_EQ(trace.stats.skipped.at("its run time is unknown"), 1U);
  EXPECT_EQ(trace.stats.skipped.at("it was cancelled before it ran"), 1U);
  EXPECT_EQ(trace.stats.statuses.at("completed"), 1U);

  TraceOptions options;
  options.settings["processors_per_gpu"] = "3";
  EXPECT_EQ(load(swf, "swf", options).jobs[0].gpus, 3);
  EXPECT_THAT(load_error("; x\n1 2 3\n"), HasSubstr("found '3 fields', expected 18 fields"));
  EXPECT_THAT(load_error("; x\n1 2 3 x 4 -1 -1 8 200 1 1 3 1 2 1 6 -1 -1\n"),
              HasSubstr("column 4 (run time): found 'x'"));
}

TEST_F(FormatsTest, SlurmAccounting) {
  const std::string header =
      "JobID|User|Partition|Submit|Elapsed|State|ReqTRES|AllocTRES|Timelimit\n";
  const Trace trace =
      load(header +
               "100|ann|gpu|2024-03-01T08:00:00|01:00:00|COMPLETED|cpu=8,mem=64G,gres/"
               "gpu=2,node=1||02:00:00\n"
               "100.batch|||2024-03-01T08:00:00|01:00:00|COMPLETED|||\n"
               "101_7|bob|gpu|2024-03-01T08:00:30|1-00:00:10|CANCELLED by 12|gres/gpu:a100=4|"
               "cpu=4,gres/gpu=4,gres/gpu:a100=4|UNLIMITED\n"
               "102|bob|cpu|2024-03-01T08:01:00|00:10:00|COMPLETED|cpu=8|cpu=8|01:00:00\n"
               "103|bob|gpu|2024-03-01T08:02:00|00:00:00|FAILED|gres/gpu=1||01:00:00\n"
               "104|bob|gpu|2024-03-01T08:03:00|00:10:00|RUNNING|gres/gpu=1||01:00:00\n"
               "105|bob|gpu|2024-03-01T08:04:00|05:30|TIMEOUT|cpu=1|cpu=1,gres/gpu:a100=1,gres/"
               "gpu:t4=2|1-0:0:0\n",
           "sacct");
  ASSERT_EQ(trace.jobs.size(), 3U);
  EXPECT_EQ(trace.jobs[0].name, "100");
  EXPECT_EQ(trace.jobs[0].submit, 0);
  EXPECT_EQ(trace.jobs[0].duration, 3600);
  EXPECT_EQ(trace.jobs[0].gpus, 2);
  EXPECT_EQ(trace.jobs[0].cpus, 8);
  EXPECT_EQ(trace.jobs[0].memory_gb, 64);
  EXPECT_EQ(trace.jobs[0].estimate, 7200);
  EXPECT_EQ(text(trace.jobs[0].user), "ann");
  EXPECT_EQ(trace.jobs[1].name, "101_7");
  EXPECT_EQ(trace.jobs[1].submit, 30);
  EXPECT_EQ(trace.jobs[1].duration, 86410);
  EXPECT_EQ(trace.jobs[1].gpus, 4);
  EXPECT_EQ(text(trace.jobs[1].gpu_type), "a100");
  EXPECT_EQ(trace.jobs[1].estimate, 0);
  EXPECT_EQ(trace.jobs[2].gpus, 3);
  EXPECT_EQ(trace.jobs[2].gpu_type, kNoSymbol);
  EXPECT_EQ(trace.jobs[2].estimate, 86400);
  EXPECT_EQ(trace.jobs[2].duration, 330);
  EXPECT_EQ(trace.stats.skipped.at("it is a step of a job"), 1U);
  EXPECT_EQ(trace.stats.skipped.at("it uses no GPUs"), 1U);
  EXPECT_EQ(trace.stats.skipped.at("it never ran"), 1U);
  EXPECT_EQ(trace.stats.skipped.at("it had not ended when the log was written"), 1U);
  EXPECT_EQ(trace.stats.statuses.at("CANCELLED"), 1U);

  EXPECT_THAT(load_error(header + "1|a|p|2024-03-01T08:00:00|soon|COMPLETED|gres/gpu=1||\n"),
              HasSubstr("column 5 (Elapsed): found 'soon', expected [days-]hours:minutes:seconds"));
  EXPECT_THAT(load_error(header + "1|a|p|2024-02-30T08:00:00|1:00|COMPLETED|gres/gpu=1||\n"),
              HasSubstr("column 4 (Submit)"));
  EXPECT_THAT(load_error(header + "1|a|p|2024-02-20T08:00:00|1:00|COMPLETED|gres/gpu=some||\n"),
              HasSubstr("column 7 (ReqTRES)"));
  EXPECT_THAT(load_error("JobID|Submit|State\n"),
              HasSubstr("lacks the column Elapsed or ElapsedRaw"));
}

TEST_F(FormatsTest, SlurmRawColumnsAreEnough) {
  const Trace trace = load(
      "JobID|Submit|ElapsedRaw|State|AllocTRES|TimelimitRaw|\n"
      "9|2024-03-01T08:00:00|75|COMPLETED|mem=512M,gres/gpu=1|30|\n",
      "sacct");
  ASSERT_EQ(trace.jobs.size(), 1U);
  EXPECT_EQ(trace.jobs[0].duration, 75);
  EXPECT_EQ(trace.jobs[0].estimate, 1800);
  EXPECT_EQ(trace.jobs[0].memory_gb, 0.5);
}

constexpr const char* kPhillyLog = R"([
 {"status": "Pass", "vc": "v1", "jobid": "application_1", "submitted_time": "2017-10-09 07:00:00", "user": "u1",
  "attempts": [
   {"start_time": "2017-10-09 07:00:10", "end_time": "2017-10-09 07:20:10",
    "detail": [{"ip": "m1", "gpus": ["gpu0", "gpu1"]}]},
   {"start_time": "2017-10-09 08:00:00", "end_time": "2017-10-09 09:00:00",
    "detail": [{"ip": "m1", "gpus": ["gpu0"]}, {"ip": "m{2", "gpus": ["gpu0", "gpu1", "gpu2"]}]}]},
 {"status": "Killed", "vc": "v2", "jobid": "application_2", "submitted_time": "2017-10-09 06:00:00", "user": "u2",
  "attempts": [
   {"start_time": "2017-10-09 06:00:00", "end_time": "2017-10-09 07:00:00",
    "detail": [{"ip": "m1", "gpus": ["gpu0"]}]},
   {"start_time": "2017-10-09 07:30:00", "end_time": "None", "detail": []}]},
 {"status": "Failed", "vc": "v2", "jobid": "application_3", "submitted_time": "2017-10-09 06:30:00", "user": "u2",
  "attempts": []}
])";

TEST_F(FormatsTest, PhillyLogPlainly) {
  const Trace trace = load(kPhillyLog, "philly-json");
  ASSERT_EQ(trace.jobs.size(), 2U);
  EXPECT_EQ(trace.jobs[0].name, "application_2");
  EXPECT_EQ(trace.jobs[0].duration, 3600);
  EXPECT_EQ(trace.jobs[0].gpus, 1);
  EXPECT_EQ(trace.jobs[1].submit, 3600);
  EXPECT_EQ(trace.jobs[1].duration, 1200 + 3600);
  EXPECT_EQ(trace.jobs[1].gpus, 4);
  EXPECT_EQ(text(trace.jobs[1].partition), "v1");
  EXPECT_EQ(trace.stats.statuses.at("Killed"), 1U);
  EXPECT_EQ(trace.stats.skipped.at("none of its attempts ran on GPUs"), 1U);
}

TEST_F(FormatsTest, PhillyLogLeavesOutWhatItsSettingsSay) {
  const auto names = [&](const ParamTexts& settings) {
    TraceOptions options;
    options.settings = settings;
    std::vector<std::string> found;
    for (const JobSpec& job : load(kPhillyLog, "philly-json", options).jobs) {
      found.push_back(job.name);
    }
    return found;
  };
  EXPECT_THAT(names({{"last_ran", "true"}}), ElementsAre("application_1"));
  EXPECT_THAT(names({{"longer_than", "3599"}}), ElementsAre("application_2", "application_1"));
  EXPECT_THAT(names({{"longer_than", "3600"}}), ElementsAre("application_1"));
  EXPECT_THAT(names({{"shorter_than", "4801"}}), ElementsAre("application_2", "application_1"));
  EXPECT_THAT(names({{"shorter_than", "4800"}}), ElementsAre("application_2"));

  TraceOptions options;
  options.settings["attempt_gpus"] = "3";  // the last attempt of application_1 had four
  const Trace trace = load(kPhillyLog, "philly-json", options);
  ASSERT_EQ(trace.jobs.size(), 2U);
  EXPECT_EQ(trace.jobs[1].duration, 1200);
  EXPECT_EQ(trace.jobs[1].gpus, 2);
  options.settings["attempt_gpus"] = "-1";
  EXPECT_THAT(load_error(kPhillyLog, options), HasSubstr("attempt_gpus"));
}

TEST_F(FormatsTest, PhillyLogErrorsNameTheLineOfTheJob) {
  EXPECT_THAT(load_error("[\n{\"jobid\": \"a\", \"attempts\": []}\n]"),
              HasSubstr(":2: submitted_time: found nothing"));
  EXPECT_THAT(
      load_error("[\n\n{\"jobid\": \"a\", \"submitted_time\": \"soon\", \"attempts\": []}\n]"),
      HasSubstr(":3: submitted_time: found 'soon'"));
  EXPECT_THAT(load_error("[{\"jobid\": \"a\", \"attempts\": []"), HasSubstr("never closed"));
  EXPECT_THAT(load_error("[{\"jobid\": \"a\", \"attempts\": [}]"), HasSubstr("a JSON object ("));
}

}  // namespace
}  // namespace muster
