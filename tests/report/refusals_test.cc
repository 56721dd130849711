#include "report/refusals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/html.h"
#include "report/summary_json.h"
#include "report/table.h"

namespace muster {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

RunSummary refused(double jobs, double wrong_type, double wrong_partition) {
  RunSummary summary;
  summary.metrics.jobs = jobs;
  summary.metrics.refused = wrong_type + wrong_partition;
  summary.decisions = {{Action::kSubmit, Reason::kArrived, jobs},
                       {Action::kRefuse, Reason::kNoPartition, wrong_partition},
                       {Action::kRefuse, Reason::kNoGpuType, wrong_type}};
  GroupRow known;
  known.name = "research";
  GroupRow unknown;
  unknown.name = "reserch";
  unknown.refused = wrong_partition;
  summary.partitions = {known, unknown};
  return summary;
}

RunInfo info() {
  RunInfo info;
  info.label = "las";
  info.partitions = {"research", "teaching"};
  info.gpu_types = {"v100"};
  return info;
}

TEST(Refusals, ByReasonWithTheRemedyMostFirst) {
  EXPECT_THAT(refusal_warnings(info(), refused(1284, 894, 7)),
              ElementsAre(AllOf(HasSubstr("894 of 1,284 jobs were refused"), HasSubstr("GPU type"),
                                HasSubstr("Its types: v100"), HasSubstr("--cluster 16x8:v100")),
                          AllOf(HasSubstr("7 of 1,284 jobs were refused"),
                                HasSubstr("'reserch' (did you mean 'research'?)"),
                                HasSubstr("It has research, teaching"))));
}

TEST(Refusals, AFewAmongManyAreNoWarning) {
  EXPECT_THAT(refusal_warnings(info(), refused(1000, 2, 1)), IsEmpty());
  EXPECT_FALSE(many_refused(refused(1000, 2, 1).metrics));
  EXPECT_TRUE(many_refused(refused(1000, 4, 0).metrics));
  EXPECT_TRUE(many_refused(refused(10, 1, 0).metrics));
  EXPECT_FALSE(many_refused(refused(10, 0, 0).metrics));
}

TEST(Refusals, AreInTheTablesAndTheReport) {
  const RunSummary many = refused(1284, 894, 0);
  const RunSummary none = refused(1284, 0, 0);
  const std::string table = comparison_table({{"las", &many}, {"fifo", &none}}).text({});
  EXPECT_THAT(table, HasSubstr("warning: 894 of 1,284 jobs were refused with las\n"));
  EXPECT_THAT(table, Not(HasSubstr("with fifo")));
  EXPECT_THAT(figures_table(many).text({}), HasSubstr("warning: 894 of 1,284 jobs were refused"));
  PageRun page;
  page.info = info();
  page.summary = many;
  EXPECT_THAT(report_page({page}, {}),
              HasSubstr("<strong>las</strong>: 894 of 1,284 jobs were refused"));
}

TEST(Refusals, TheNamesOfTheClusterAreKeptWithTheResult) {
  const auto read = summary_from_json(summary_to_json({info(), refused(9, 1, 1), true, ""}), "x");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->info.partitions, info().partitions);
  EXPECT_EQ(read->info.gpu_types, info().gpu_types);
}

}  // namespace
}  // namespace muster
