#include "run/experiment/policy_runtime.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/experiment/runtime_task.h"
#include "support/gavel_table.h"
#include "support/temporary_folder.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

class PolicyRuntimeTest : public ::testing::Test {
 protected:
  PolicyRuntimeTest() {
    options_.throughputs = folder_.write("table.json", gavel_table_json()).string();
    options_.policies = policy_runtime_families();
    options_.jobs = {32};
    options_.trials = 1;
  }
  std::vector<PolicyRuntime> measured() const {
    auto rows = measure_policy_runtimes(options_);
    EXPECT_TRUE(rows) << (rows ? "" : rows.error().message);
    return rows ? std::move(*rows) : std::vector<PolicyRuntime>{};
  }

  TemporaryFolder folder_;
  PolicyRuntimeOptions options_;
};

TEST_F(PolicyRuntimeTest, AllFamiliesReachWhatTheGeneralSolverDoes) {
  options_.check = true;
  for (const bool multi_gpu : {false, true}) {
    options_.multi_gpu = multi_gpu;
    const std::vector<PolicyRuntime> rows = measured();
    ASSERT_EQ(rows.size(), options_.policies.size());
    for (const PolicyRuntime& row : rows) {
      EXPECT_EQ(row.seconds.size(), 1U) << row.policy;
      EXPECT_GT(row.average, 0) << row.policy;
      EXPECT_LE(row.off_general, 1e-6) << row.policy;
    }
  }
}

// POP: the parts keep most of the throughput, and the gap of what is raised is told.
TEST_F(PolicyRuntimeTest, PartsTellTheGap) {
  options_.policies = {"gavel-max-min-fairness-perf", "gavel-max-min-fairness-packed",
                       "gavel-max-sum-throughput-perf",
                       "gavel-max-min-fairness-water-filling-perf"};
  options_.jobs = {64};
  options_.parts = 2;
  for (const PolicyRuntime& row : measured()) {
    EXPECT_GT(row.share_kept, 0.8) << row.policy;
    EXPECT_LT(row.share_kept, 1.2) << row.policy;
    const bool single = row.policy.find("water") == std::string::npos;
    ASSERT_EQ(row.goal_kept.has_value(), single) << row.policy;
    if (!single) continue;
    EXPECT_GT(*row.goal_kept, 0.5) << row.policy;
    EXPECT_LE(*row.goal_kept, 1 + 1e-6) << row.policy << ": one program cannot be worse";
  }
}

TEST_F(PolicyRuntimeTest, TooManyPairsAreToldAndNotLeftOut) {
  options_.policies = {"gavel-max-min-fairness-packed"};
  options_.jobs = {16384};
  const std::vector<PolicyRuntime> rows = measured();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_TRUE(rows[0].too_many_pairs);
  const auto task = run_runtime_task({.throughputs = options_.throughputs,
                                      .policy = options_.policies[0],
                                      .jobs = 16384,
                                      .trials = 1,
                                      .parts = 1});
  ASSERT_FALSE(task);
  EXPECT_THAT(task.error().message, HasSubstr("too many pairs"));
  // In parts there are few enough; what one program would give nobody knows.
  options_.policies = {"gavel-min-total-duration-packed"};
  options_.jobs = {520};
  options_.parts = 20;
  const std::vector<PolicyRuntime> parts = measured();
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_FALSE(parts[0].too_many_pairs);
  EXPECT_EQ(parts[0].seconds.size(), 1U);
  EXPECT_TRUE(std::isnan(parts[0].share_kept));
  EXPECT_FALSE(parts[0].goal_kept);
}

TEST_F(PolicyRuntimeTest, MistakesAreTold) {
  options_.policies = {"las"};
  EXPECT_THAT(measure_policy_runtimes(options_).error().message, HasSubstr("las"));
  options_.policies = {"gavel-isolated"};
  options_.throughputs = "nowhere.json";
  EXPECT_THAT(measure_policy_runtimes(options_).error().message, HasSubstr("nowhere.json"));
  options_.throughputs =
      folder_.write("one.json", R"json({"v100": {"('A3C', 1)": {"null": 1}}})json").string();
  EXPECT_THAT(measure_policy_runtimes(options_).error().message, HasSubstr("the GPU type 'k80'"));
}

}  // namespace
}  // namespace muster
