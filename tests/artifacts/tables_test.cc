// The rows of artifacts stand behind the general ones and refer to rows that exist.
#include <gtest/gtest.h>

#include "artifacts/blox/every_stop.h"
#include "artifacts/rows.h"
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

}  // namespace
}  // namespace muster
