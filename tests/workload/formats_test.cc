// The traces of published simulators, and what each becomes.
#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workload/formats_fixture.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

TEST_F(FormatsTest, NamesAndSentencesAreFilledAndUnique) {
  std::vector<std::string_view> names = trace_format_names();
  EXPECT_EQ(names.size(), 13U);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  for (const TraceFormat& format : trace_formats()) {
    EXPECT_FALSE(format.sentence.empty());
    EXPECT_FALSE(format.source.empty());
  }
}

TEST_F(FormatsTest, ItpRaw) {
  const Trace trace =
      load("job_id,submission_time,duration,num_gpu\nab-1,100,600,4\nab-2,160,3600,1", "itp");
  ASSERT_EQ(trace.jobs.size(), 2U);
  EXPECT_EQ(trace.jobs[0].name, "ab-1");
  EXPECT_EQ(trace.jobs[0].submit, 100);
  EXPECT_EQ(trace.jobs[0].gpus, 4);
  EXPECT_EQ(trace.jobs[1].duration, 3600);
}

TEST_F(FormatsTest, ElasticFlowInBothSpellings) {
  const Trace released = load(
      "job_id,submission_time,num_iteration,model_name,deadline,batch_size,num_gpu,duration\n"
      "x,50,1000,bert,900,64,2,700\n",
      "elasticflow");
  ASSERT_EQ(released.jobs.size(), 1U);
  EXPECT_EQ(released.jobs[0].iterations, 1000);
  EXPECT_EQ(released.jobs[0].deadline, 900);
  EXPECT_EQ(released.jobs[0].batch_size, 64);
  EXPECT_EQ(text(released.jobs[0].model), "bert");

  const Trace artifact = load(
      "job_id,submit_time,iteration,model_name,ddl,batch_size,num_gpu,duration,best_effort\n"
      "0,50,1000,bert,900,64,2,700,0\n1,60,10,gpt2,61,64,2,700,1\n2,70,9,gpt2,9223372036854775807,"
      "1,1,5,0\n",
      "elasticflow");
  ASSERT_EQ(artifact.jobs.size(), 3U);
  EXPECT_EQ(artifact.jobs[0].deadline, 900);
  EXPECT_EQ(artifact.jobs[1].deadline, kNever);
  EXPECT_EQ(artifact.jobs[2].deadline, kNever);
}

TEST_F(FormatsTest, MuriCountsMillisecondsAndTurnsPrioritiesRound) {
  const Trace trace = load(
      "job_id,num_gpu,submit_time,iterations,model_name,batch_size,duration,interval,iteration_"
      "time,"
      "resource_time_0,resource_time_1,resource_time_2,priority\n"
      "7,8,1500,20,vgg16,16,4500,0,225,80,75,66,1\n8,1,2000,20,vgg16,16,4500,0,225,80,75,66,0\n",
      "muri");
  ASSERT_EQ(trace.jobs.size(), 2U);
  EXPECT_DOUBLE_EQ(trace.jobs[0].submit, 1.5);
  EXPECT_DOUBLE_EQ(trace.jobs[0].duration, 4) << "whole seconds, as its simulator counts them";
  EXPECT_EQ(trace.jobs[0].priority, -1);
  EXPECT_EQ(trace.jobs[1].priority, 0);
  EXPECT_EQ(trace.jobs[0].step_ms, 225);
  EXPECT_EQ(trace.jobs[0].stage_ms, (StageTimes{80, 0, 75, 66}));
}

TEST_F(FormatsTest, MuriStagesMustBeWholeAndNotAllZero) {
  const std::string header =
      "job_id,num_gpu,submit_time,iterations,model_name,duration,iteration_time,resource_time_0,"
      "resource_time_1,resource_time_2";
  const Trace four =
      load(header + ",resource_time_3\n0,1,0,20,vgg16,4500,225,80,10,75,66\n", "muri");
  ASSERT_EQ(four.jobs.size(), 1U);
  EXPECT_EQ(four.jobs[0].stage_ms, (StageTimes{80, 10, 75, 66}));
  EXPECT_THAT(load_error(header + "\n0,1,0,20,vgg16,4500,225,0,0,0\n"),
              HasSubstr(":2: column 8 (resource_time_0): found 'stages that all last 0 ms', "
                        "expected at least one stage above 0"));
  EXPECT_THAT(load_error(header + "\n0,1,0,20,vgg16,4500,225,80,,66\n"),
              HasSubstr("column 9 (resource_time_1): found 'nothing'"));
  EXPECT_THAT(load_error(header + "\n0,1,0,20,vgg16,4500,225,80,-1,66\n"),
              HasSubstr("column 9 (resource_time_1): found '-1'"));
  EXPECT_THAT(load_error(header + "\n0,1,0,20,vgg16,4500,0,80,75,66\n"),
              HasSubstr("column 7 (iteration_time): found '0'"));
  const Trace none = load(
      "job_id,num_gpu,submit_time,iterations,model_name,duration,iteration_time\n"
      "0,1,0,20,vgg16,4500,225\n",
      "muri");
  ASSERT_EQ(none.stats.notes.size(), 1U);
  EXPECT_THAT(none.stats.notes[0], HasSubstr("never grouped"));
}

TEST_F(FormatsTest, Tiresias) {
  const Trace trace = load(
      "job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n3,2,30,133,vgg11,147,"
      "23\n",
      "tiresias");
  ASSERT_EQ(trace.jobs.size(), 1U);
  EXPECT_EQ(trace.jobs[0].submit, 30);
  EXPECT_EQ(trace.jobs[0].iterations, 133);
  EXPECT_EQ(trace.jobs[0].duration, 147);
}

TEST_F(FormatsTest, ChronusCountsMinutesFromSubmission) {
  const std::string header =
      "job_id,user,num_gpu,submit_time,iterations,model_name,duration,interval,expect_time_list,"
      "expect_value_list,best_effort,job_type\n";
  const Trace trace = load(header +
                               "0,vc_a,1,10,50,vgg16,7,1,11,10,0,strict\n"
                               "1,vc_b,2,20,50,alexnet,9,1,15-20-30,10-8-5,0,soft\n"
                               "2,vc_b,4,30,50,alexnet,9,1,30,10,1,best\n",
                           "chronus");
  ASSERT_EQ(trace.jobs.size(), 3U);
  EXPECT_EQ(trace.jobs[0].submit, 600);
  EXPECT_EQ(trace.jobs[0].duration, 420);
  EXPECT_EQ(trace.jobs[0].deadline, 600 + 660);
  EXPECT_EQ(trace.jobs[1].deadline, 1200 + 900);
  EXPECT_EQ(trace.jobs[2].deadline, kNever);
  EXPECT_EQ(text(trace.jobs[0].user), "vc_a");
  EXPECT_THAT(load_error(header + "0,vc,1,10,50,vgg16,7,1,soon,10,0,strict\n"),
              HasSubstr("column 9 (expect_time_list): found 'soon'"));
}

TEST_F(FormatsTest, GavelInItsThreeLayouts) {
  const std::string ten =
      "ResNet-18 (batch size 32)\tpython3 main.py\tcifar10\t--num_steps\t1\t500\t2\t5\t1.5\t30\n";
  const Trace trace = load(ten, "gavel");
  ASSERT_EQ(trace.jobs.size(), 1U);
  EXPECT_EQ(text(trace.jobs[0].model), "ResNet-18 (batch size 32)");
  EXPECT_EQ(trace.jobs[0].batch_size, 32);
  EXPECT_EQ(trace.jobs[0].iterations, 500);
  EXPECT_EQ(trace.jobs[0].duration, 500);
  EXPECT_EQ(trace.jobs[0].gpus, 2);
  EXPECT_EQ(trace.jobs[0].priority, 5);
  EXPECT_EQ(trace.jobs[0].submit, 30);
  EXPECT_EQ(trace.jobs[0].deadline, 30 + 750);
  ASSERT_FALSE(trace.stats.notes.empty());
  EXPECT_THAT(trace.stats.notes[0], HasSubstr("steps"));

  const Trace old =
      load("LM (batch size 5)\tcd %s && python3 main.py\t--steps\t1\t77\t9.5\t4\n", "gavel");
  ASSERT_EQ(old.jobs.size(), 1U);
  EXPECT_EQ(old.jobs[0].iterations, 77);
  EXPECT_EQ(old.jobs[0].submit, 9.5);
  EXPECT_EQ(old.jobs[0].gpus, 4);
  EXPECT_EQ(old.jobs[0].deadline, kNever);

  const Trace shockwave = load(
      "LM (batch size 5)\tpython3 main.py\tlm\t--steps\t1\t77\t4\t1\t-1\t3\tstatic\tx\n", "gavel");
  EXPECT_EQ(shockwave.jobs.size(), 1U);
  EXPECT_THAT(load_error(ten + "too\tfew\n"),
              HasSubstr(":2: found '2 columns', expected 10 columns"));
  EXPECT_THAT(load_error(ten + "A\tb\tc\td\t1\tmany\t2\t5\t1.5\t30\n"),
              HasSubstr("column 6 (total steps): found 'many'"));
}

TEST_F(FormatsTest, GavelThroughputsMakeSeconds) {
  TraceOptions options;
  options.settings["throughputs"] = folder_.write(
      "rates.json",
      R"json({"v100": {"('LM (batch size 5)', 4)": {"null": 7.0, "('LM (batch size 5)', 4)": [1, 1]}},
              "k80": {"('LM (batch size 5)', 4)": {"null": 3.5}}})json");
  const std::string trace_text = "LM (batch size 5)\tx\t--steps\t1\t77\t9.5\t4\n";
  EXPECT_EQ(load(trace_text, "gavel", options).jobs.at(0).duration, 11);
  options.settings["reference_type"] = "k80";
  EXPECT_EQ(load(trace_text, "gavel", options).jobs.at(0).duration, 22);
  options.settings["reference_type"] = "a100";
  EXPECT_THAT(load_error(trace_text, options), HasSubstr("no GPU type 'a100'"));
  options.settings["reference_type"] = "v100";
  EXPECT_THAT(load_error("LM (batch size 5)\tx\t--steps\t1\t77\t9.5\t2\n", options),
              HasSubstr("found 'LM (batch size 5) on 2 GPUs'"));
  options.settings["throughputs"] = folder_.write("broken.json", "{\"v100\": ");
  EXPECT_THAT(load_error(trace_text, options),
              HasSubstr("broken.json: not a table of throughputs"));
}

}  // namespace
}  // namespace muster
