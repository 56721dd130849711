// Measured tables: what they say, how far a job may be stretched, and what is wrong with a bad one.
#include "workload/perf/throughput_tables.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

class ThroughputTablesTest : public ::testing::Test {
 protected:
  void write(const std::string& model, const std::string& text) const {
    std::ofstream(folder_.path() / (model + ".csv")) << text;
  }
  std::unique_ptr<PerfModel> make(CurveCap cap = cap_at_peak) {
    auto made = load_throughput_tables(folder_.path().string(), cap, symbols_);
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    return std::move(*made);
  }
  std::string complaint() {
    const auto made = load_throughput_tables(folder_.path().string(), cap_at_peak, symbols_);
    EXPECT_FALSE(made);
    return made ? "" : made.error().message;
  }
  JobSpec job(const std::string& model, int batch) {
    JobSpec job;
    job.name = "seven";
    job.model = symbols_.intern(model);
    job.batch_size = batch;
    job.gpus = 2;
    job.iterations = 300;
    job.duration = 100;
    return job;
  }
  static RunContext on(int gpus) {
    RunContext context;
    context.gpus = gpus;
    return context;
  }

  TemporaryFolder folder_;
  Symbols symbols_;
};

TEST_F(ThroughputTablesTest, GivesSpeedsByModelBatchAndGpus) {
  write("bert", "global_batch_size,1,2,4,8\n64,2,3,5,4\n128,1,1.5,nan,\n");
  const auto perf = make();
  // 300 iterations in 100 s are 3 per second: the speed on two GPUs.
  EXPECT_DOUBLE_EQ(perf->rate(job("bert", 64), on(2)), 1);
  EXPECT_DOUBLE_EQ(perf->rate(job("bert", 64), on(4)), 5.0 / 3);
  // Three GPUs run as two: the table has no third.
  EXPECT_DOUBLE_EQ(perf->rate(job("bert", 64), on(3)), 1);
  EXPECT_DOUBLE_EQ(perf->rate(job("bert", 128), on(8)), 0.5);
  EXPECT_EQ(curve_of(*perf, job("bert", 64))->cap, 4);
  EXPECT_EQ(curve_of(*perf, job("bert", 128))->widest, 8);
  EXPECT_EQ(curve_of(*perf, job("bert", 128))->points.size(), 2U);
}

TEST_F(ThroughputTablesTest, CapsAsItIsTold) {
  write("bert", "global_batch_size,1,2,4,8,16\n64,1,2,3,2,1\n");
  EXPECT_EQ(curve_of(*make(cap_at_peak), job("bert", 64))->cap, 4);
  EXPECT_EQ(curve_of(*make(cap_at_widest), job("bert", 64))->cap, 16);
  const CurveCap by_batch = [](std::string_view model, int batch, const ThroughputCurve&) {
    return model == "bert" && batch == 64 ? 2 : 1;
  };
  EXPECT_EQ(curve_of(*make(by_batch), job("bert", 64))->cap, 2);
}

TEST_F(ThroughputTablesTest, SaysWhichModelsAndBatchSizesThereAre) {
  write("bert", "global_batch_size,1,2\n64,2,3\n128,1,2\n");
  write("gpt2", "global_batch_size,1\n8,2\n");
  const auto perf = make();
  EXPECT_TRUE(perf->check(job("bert", 64)));
  EXPECT_THAT(perf->check(job("llama", 64)).error().message,
              ::testing::AllOf(HasSubstr("job seven"), HasSubstr("there are bert, gpt2")));
  EXPECT_THAT(perf->check(job("bert", 32)).error().message,
              ::testing::AllOf(HasSubstr("batch size 32 of model bert"), HasSubstr("64, 128")));
  JobSpec idle = job("bert", 64);
  idle.iterations = 0;
  EXPECT_THAT(perf->check(idle).error().message, HasSubstr("0 iterations"));
}

TEST_F(ThroughputTablesTest, RoundsSizesThatWereNotMeasuredDownAndRefusesThoseBelowAll) {
  write("bert", "global_batch_size,1,2,4,8\n64,nan,3,5,8\n");
  const auto perf = make();
  JobSpec odd = job("bert", 64);
  for (const auto& [gpus, as] : {std::pair(3, 2), {6, 4}, {12, 8}}) {
    odd.gpus = gpus;
    EXPECT_TRUE(perf->check(odd));
    RunContext asked;
    asked.gpus = gpus;
    RunContext rounded;
    rounded.gpus = as;
    EXPECT_EQ(perf->rate(odd, asked), perf->rate(odd, rounded)) << gpus;
  }
  odd.gpus = 1;
  EXPECT_THAT(perf->check(odd).error().message,
              ::testing::AllOf(HasSubstr("it asks for 1 GPUs"), HasSubstr("measured on 2")));
  odd.min_gpus = 1;
  odd.max_gpus = 8;
  EXPECT_TRUE(perf->check(odd));
}

TEST_F(ThroughputTablesTest, NamesWhatIsWrongWithATable) {
  EXPECT_THAT(complaint(), HasSubstr("no <model>.csv file"));
  write("bert", "");
  EXPECT_THAT(complaint(), HasSubstr("bert.csv"));
  write("bert", "batch,1\n");
  EXPECT_THAT(complaint(), HasSubstr("expected 'global_batch_size'"));
  write("bert", "global_batch_size,2,1\n64,1,1\n");
  EXPECT_THAT(complaint(), HasSubstr("ascending"));
  write("bert", "global_batch_size,1,2\n64,1\n");
  EXPECT_THAT(complaint(), HasSubstr("bert.csv:2: 2 cells where the header has 3"));
  write("bert", "global_batch_size,1,2\n64,1,fast\n");
  EXPECT_THAT(complaint(), HasSubstr("column '2': found 'fast'"));
  write("bert", "global_batch_size,1,2\n64,0,nan\n");
  EXPECT_THAT(complaint(), HasSubstr("no GPU count is possible"));
  write("bert", "global_batch_size,1\n64,1\n64,2\n");
  EXPECT_THAT(complaint(), HasSubstr("has a row already"));
  write("bert", "global_batch_size,1\nmany,1\n");
  EXPECT_THAT(complaint(), HasSubstr("found the batch size 'many'"));
}

TEST(ThroughputTables, NeedAFolder) {
  Symbols symbols;
  EXPECT_FALSE(load_throughput_tables("/no/such/folder", cap_at_peak, symbols));
  const auto none = load_throughput_tables("", cap_at_peak, symbols);
  ASSERT_TRUE(none);
  EXPECT_THAT((*none)->check(JobSpec{}).error().message, HasSubstr("'folder' is empty"));
}

}  // namespace
}  // namespace muster
