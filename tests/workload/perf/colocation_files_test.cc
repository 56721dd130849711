#include "workload/perf/colocation_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

class Colocation : public testing::Test {
 protected:
  void SetUp() override {
    files.profiles = folder
                         .write("single.csv",
                                "model,dataset,batchsize,amp,gpu_util,gmem_util,gmem,label\n"
                                "A,D,32,0,30,10,1000,0\nA,D,32,1,50,10,1000,0\n"
                                "B,D,64,0,90,60,9000,2\n")
                         .string();
    files.pairs = folder
                      .write("pairs.csv",
                             "model1,dataset1,batchsize1,amp1,speed1,model2,dataset2,batchsize2,"
                             "amp2,speed2\nA,D,32,0,0.9,B,D,64,0,0.6\n")
                      .string();
  }
  double speed(const std::string& mine, const std::string& theirs) {
    const auto model = load_colocation(files, {}, symbols);
    EXPECT_TRUE(model) << model.error().message;
    JobSpec job;
    job.model = symbols.intern(mine);
    JobSpec other;
    other.model = symbols.intern(theirs);
    const JobSpec* neighbours[] = {&other};
    RunContext context;
    context.gpus = 1;
    context.neighbours = neighbours;
    return (*model)->rate(job, context);
  }
  TemporaryFolder folder;
  ColocationFiles files;
  Symbols symbols;
};

TEST_F(Colocation, UsesTheTableEitherWayRound) {
  EXPECT_EQ(speed("A/D/32", "B/D/64"), 0.9);
  EXPECT_EQ(speed("B/D/64", "A/D/32"), 0.6);
}

TEST_F(Colocation, EstimatesAPairThatIsNotInTheTable) {
  // 50 % and 90 %: 60 % beyond the spare 80 %.
  EXPECT_NEAR(speed("A/D/32/amp", "B/D/64"), 1 - 0.0028 * 60, 1e-12);
  EXPECT_EQ(speed("A/D/32", "A/D/32/amp"), 1);
  // A workload that nobody profiled costs a fixed part.
  EXPECT_EQ(speed("A/D/32", "unknown"), 0.7);
}

TEST_F(Colocation, OrRefusesATableWithGaps) {
  files.complete = true;
  const auto model = load_colocation(files, {}, symbols);
  ASSERT_FALSE(model);
  EXPECT_THAT(model.error().message, HasSubstr("no row for"));
  EXPECT_THAT(model.error().message, HasSubstr("missing=estimate"));
}

TEST_F(Colocation, NamesMissingColumnsAndBadNumbers) {
  const auto problem = [&](const std::string& text) {
    files.profiles = folder.write("bad.csv", text).string();
    const auto model = load_colocation(files, {}, symbols);
    return model ? "" : model.error().message;
  };
  EXPECT_THAT(problem("model,gpu_util,gmem\nA,1,2\n"), HasSubstr("no column 'gmem_util'"));
  EXPECT_THAT(problem("model,gpu_util,gmem_util,gmem\nA,1,x,3\n"), HasSubstr("found 'x'"));
  EXPECT_THAT(problem("model,gpu_util,gmem_util,gmem\nA,1,2\n"), HasSubstr("3 cells"));
  EXPECT_THAT(problem(""), HasSubstr("empty"));
  files.profiles = "no/such.csv";
  EXPECT_FALSE(load_colocation(files, {}, symbols));
}

}  // namespace
}  // namespace muster
