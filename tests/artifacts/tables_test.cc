// The rows of artifacts stand behind the general ones and refer to rows that exist.
#include <gtest/gtest.h>

#include "artifacts/blox/every_stop.h"
#include "artifacts/elasticflow/throughput_caps.h"
#include "artifacts/rows.h"
#include "artifacts/tiresias/shortest_expected.h"
#include "run/config/plugin_tables.h"
#include "support/simulation.h"

namespace muster {
namespace {

TEST(PluginTables, HaveTheGeneralRowsFirst) {
  const std::size_t general = pacing_table().size();
  const std::vector<PacingInfo> artifacts = artifact_pacing_rows();
  ASSERT_EQ(plugin_tables().pacing.size(), general + artifacts.size());
  for (std::size_t i = 0; i < general; ++i) {
    EXPECT_EQ(plugin_tables().pacing[i].name, pacing_table()[i].name);
  }
  for (std::size_t i = 0; i < artifacts.size(); ++i) {
    EXPECT_EQ(plugin_tables().pacing[general + i].name, artifacts[i].name);
  }
}

// So that nobody takes one for a policy as it is meant.
TEST(PluginTables, SayOfPoliciesThatTheyAreAsCoded) {
  for (const auto& row : artifact_scheduling_rows()) {
    EXPECT_TRUE(row.name.ends_with("-as-coded")) << row.name;
  }
  for (const auto& row : artifact_placement_rows()) {
    EXPECT_TRUE(row.name.ends_with("-as-coded")) << row.name;
  }
}

TEST(PluginTables, NameOnlyRowsThatExist) {
  for (const PacingInfo& row : plugin_tables().pacing) {
    EXPECT_TRUE(find_row("progress model", plugin_tables().progress, row.progress)) << row.name;
  }
  for (const ProgressInfo& row : plugin_tables().progress) {
    if (row.pacing.empty()) continue;
    EXPECT_TRUE(find_row("pacing", plugin_tables().pacing, row.pacing)) << row.name;
  }
}

TEST(EveryStop, CountsNoMoveAndEveryPassingStop) {
  const PreemptionRule rule = every_stop_accounting().rule;
  EXPECT_TRUE(rule.passing_stops);
  EXPECT_FALSE(rule.moves);
  EXPECT_FALSE(accounting_table().front().rule.passing_stops);
  EXPECT_TRUE(accounting_table().front().rule.moves);
}

// The long job is stopped at 10 and may go first once it has waited for 50 s; it then has 30 left.
TEST(BloxWaits, CountFromTheRoundAfterTheStop) {
  const auto end_under = [](const char* policy) {
    Scenario scenario;
    scenario.cluster = uniform_cluster(1, 1);
    scenario.pacing = {"rounds", {{"length", "10"}}};
    scenario.scheduling = {policy, {{"boost_after", "50"}}};
    scenario.jobs = {job_of(0, 40)};
    for (int i = 0; i < 20; ++i) scenario.jobs.push_back(job_of(1 + 10.0 * i, 10));
    return simulate(scenario).job(0).end;
  };
  EXPECT_EQ(end_under("srtf"), 90);
  EXPECT_EQ(end_under("srtf-as-coded"), 100);
}

TEST(OptimusAsCoded, LooksItsConstantUpByLoad) {
  Symbols symbols;
  const auto rate = [&symbols](const char* load) {
    return make_perf({"optimus-as-coded", {{"load", load}}}, symbols)->rate(job_of(0, 1), {});
  };
  EXPECT_EQ(rate("1"), 5);
  EXPECT_EQ(rate("2.9"), 3);
  EXPECT_EQ(rate("5"), 1.1);
  EXPECT_EQ(rate("6"), 1);
  EXPECT_EQ(rate("0"), 1);
  EXPECT_EQ(rate("1e300"), 1);
}

TEST(ShortestExpectedAsCoded, TakesNothingOff) {
  DurationSample sample(10);
  sample.read("10,20,30,1000");
  EXPECT_DOUBLE_EQ(expected_as_coded(sample, 0), 20) << "the longest does not count";
  EXPECT_DOUBLE_EQ(expected_as_coded(sample, 15), 25);
  EXPECT_DOUBLE_EQ(expected_as_coded(sample, 30), 1000);
  EXPECT_DOUBLE_EQ(expected_as_coded(sample, 2000), 0);
}

TEST(ThroughputTablesAsCoded, CapByModelAndBatch) {
  EXPECT_EQ(cap_of_a100_tables("bert", 64, {}), 8);
  EXPECT_EQ(cap_of_a100_tables("bert", 128, {}), 16);
  EXPECT_EQ(cap_of_a100_tables("resnet50", 256, {}), 64);
  EXPECT_EQ(cap_of_t4_tables("ncf", 32768, {}), 1);
  EXPECT_EQ(cap_of_t4_tables("vgg16", 64, {}), 64);
}

}  // namespace
}  // namespace muster
