// Figures beside completion times: the lease extensions of Gavel's own runs.
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "parity_gavel/support.h"
#include "run/assembly/simulation.h"
#include "support/paths.h"

namespace muster {
namespace {

// Its static runs and traces; the policies that pack count pairs once, we count jobs.
TEST(GavelFigures, LeaseExtensionsWithoutSolver) {
  MUSTER_NEEDS_SHARED("golden/gavel/results.tsv");
  MUSTER_NEEDS_SHARED(kGavelTable);
  const std::map<std::string, std::string> traces = {{"small_test.trace", "small222"},
                                                     {"medium_test.trace", "medium222"}};
  const std::set<std::string> policies = {"allox", "fifo", "fifo_perf", "isolated"};
  int compared = 0;
  for (const auto& row : read_tsv("golden/gavel/results.tsv")) {
    if (row.at("set") != "A" || policies.count(row.at("policy")) == 0) continue;
    const auto theirs = parse_real(row.at("lease_ext_pct"));
    if (!theirs) continue;
    std::string config;
    if (const auto trace = traces.find(row.at("trace")); trace != traces.end()) {
      config = trace->second;
    } else if (row.at("trace") == "generated") {
      config = row.at("multi_gpu") == "1" ? "static100multi" : "static100single";
    } else {
      continue;
    }
    const auto summary = measure_run(gavel_run(config, row.at("policy")), nullptr);
    ASSERT_TRUE(summary && *summary);
    const double ours = 100 * (*summary)->metrics.lease_extension_ratio;
    SCOPED_TRACE(config + " " + row.at("policy"));
    if (config == "static100multi") {
      // Gavel gives jobs of several GPUs new places more often: its walk over servers never goes
      // back.
      EXPECT_GE(ours, *theirs);
      EXPECT_LT(ours, *theirs + 2);
    } else {
      EXPECT_NEAR(ours, *theirs, 0.006);
    }
    ++compared;
  }
  EXPECT_GE(compared, 8);
}

}  // namespace
}  // namespace muster
