// Policies that are linear programs, against the average completion time (or makespan) of Gavel's
// own runs. Best answers are not unique, so runs of different solvers drift apart; the bound is
// what the reference says of that.
#include <cmath>

#include <gtest/gtest.h>

#include "base/text.h"
#include "parity_gavel/support.h"
#include "run/simulation.h"
#include "support/paths.h"

namespace muster {
namespace {

TEST(GavelParity, AveragesOfLinearPrograms) {
  MUSTER_NEEDS_SHARED(kGavelTable);
  MUSTER_NEEDS_SHARED("golden/gavel/results.tsv");
  int compared = 0;
  for (const auto& row : read_tsv("golden/gavel/results.tsv")) {
    const std::string& policy = row.at("policy");
    if (row.at("set") != "A" || policy.find("SLO") != std::string::npos) continue;
    std::string config;
    if (row.at("trace") == "medium_test.trace") config = "medium222";
    if (row.at("trace") == "generated" && row.at("num_total_jobs") == "100" &&
        row.at("lam_s") == "0.0") {
      config = row.at("multi_gpu") == "1" ? "static100multi" : "static100single";
    }
    if (config.empty() || row.at("cluster") == "4:4:4") continue;
    const auto summary = measure_run(gavel_run(config, policy), nullptr);
    ASSERT_TRUE(summary && *summary) << policy;
    const bool makespan = policy.starts_with("min_total_duration");
    const double ours = makespan ? (*summary)->metrics.makespan_s : (*summary)->metrics.avg_jct_s;
    const double theirs = *parse_real(row.at(makespan ? "makespan_s" : "avg_jct_s"));
    EXPECT_NEAR(ours / theirs, 1, 0.015)
        << config << " " << policy << ": ours " << ours << ", Gavel " << theirs;
    ++compared;
  }
  EXPECT_GT(compared, 30);
}

}  // namespace
}  // namespace muster
