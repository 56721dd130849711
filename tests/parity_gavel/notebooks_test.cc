// Rows of Gavel's notebooks above saturation, where ties decide: with the switches that bring back
// what the runs behind the notebooks had, they are equal to the last printed digit.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "parity_gavel/support.h"
#include "run/assembly/simulation.h"
#include "support/paths.h"

namespace muster {
namespace {

// In hours.
double average_completion_time(const std::string& policy, double jobs_per_hour) {
  const std::string table = (shared_dir() / kGavelTable).string();
  const RunConfig config =
      gavel_config(fmt::format("seed = 0\ncluster = '36:36:36'\nscheduling = '{}'\n"
                               "perf = [{{name = 'throughputs', file = '{}'}}]\n"
                               "measure = {{first = 4000, last = 4999}}\n"
                               "[workload.generator]\nname = 'gavel'\nthroughputs = '{}'\n"
                               "job_types = 'july-2020'\nlam = {}\n",
                               policy, table, table, 3600 / jobs_per_hour));
  const auto summary = measure_run(config, nullptr);
  EXPECT_TRUE(summary && *summary);
  return summary && *summary ? (*summary)->metrics.avg_jct_s / 3600 : 0;
}

TEST(GavelNotebooks, AlloxChoosesAmongEqualsAsOlderSciPy) {
  MUSTER_NEEDS_SHARED(kGavelTable);
  EXPECT_NEAR(average_completion_time("gavel-as-coded:policy=allox,munkres=true", 5.2), 21.96,
              0.005);
  EXPECT_GT(average_completion_time("gavel-as-coded:policy=allox", 5.2), 22.5);
}

TEST(GavelNotebooks, GandivaOwesNothingToNewPairs) {
  MUSTER_NEEDS_SHARED(kGavelTable);
  EXPECT_NEAR(average_completion_time("gavel-as-coded:policy=gandiva,even_pairs=true", 4.4), 25.65,
              0.005);
  EXPECT_GT(average_completion_time("gavel-as-coded:policy=gandiva", 4.4), 29);
}

}  // namespace
}  // namespace muster
