// Policies that are optimisation problems, against the average completion time (or makespan) of
// Gavel's own runs. Best answers are not unique; solved as its solver does, step by step, nearly
// all are equal to the last printed digit. More of them are in experiments/gavel/solved.toml.
#include <cmath>

#include <gtest/gtest.h>

#include "base/text.h"
#include "parity_gavel/support.h"
#include "run/assembly/simulation.h"
#include "support/paths.h"

namespace muster {
namespace {

struct Compared {
  std::string config;
  std::string policy;
  bool equal;  // to every printed digit; others within 1.5 %
};

TEST(GavelParity, AveragesOfLinearPrograms) {
  MUSTER_NEEDS_SHARED(kGavelTable);
  MUSTER_NEEDS_SHARED("golden/gavel/results.tsv");
  const std::vector<Compared> runs = {
      {"small222", "max_min_fairness", true},
      {"small222", "max_min_fairness_perf", true},
      {"small222", "max_min_fairness_water_filling", true},
      {"small222", "finish_time_fairness", true},
      {"small222", "finish_time_fairness_perf", true},
      {"small222", "max_sum_throughput_perf", true},
      {"small222", "min_total_duration", true},
      {"medium222", "max_min_fairness", true},
      {"medium222", "max_min_fairness_perf", true},
      {"medium222", "max_min_fairness_packed", true},
      {"medium222", "max_min_fairness_water_filling", true},
      {"medium222", "max_min_fairness_water_filling_perf", true},
      {"medium222", "max_min_fairness_water_filling_packed", false},
      {"medium222", "finish_time_fairness", true},
      {"medium222", "finish_time_fairness_perf", true},
      {"medium222", "finish_time_fairness_packed", false},
      {"medium222", "max_sum_throughput_perf", true},
      {"medium222", "min_total_duration", true},
      {"medium222", "min_total_duration_perf", true},
      {"medium222", "min_total_duration_packed", true},
      {"static100single", "max_min_fairness", true},
      {"static100single", "max_min_fairness_perf", true},
      {"static100single", "max_min_fairness_water_filling_perf", true},
      {"static100single", "max_sum_throughput_perf", true},
      {"static100single", "min_total_duration_perf", true},
      {"static100single", "min_total_duration_packed", true},
      {"static100multi", "max_min_fairness", true},
      {"static100multi", "max_min_fairness_perf", true},
      {"static100multi", "max_min_fairness_water_filling", true},
      {"static100multi", "finish_time_fairness", true},
      {"static100multi", "finish_time_fairness_perf", true},
      {"static100multi", "min_total_duration_perf", true},
  };
  const auto rows = read_tsv("golden/gavel/results.tsv");
  for (const Compared& run : runs) {
    SCOPED_TRACE(run.config + " " + run.policy);
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const auto& one) {
      if (one.at("set") != "A" || one.at("policy") != run.policy) return false;
      if (run.config == "small222") return one.at("trace") == "small_test.trace";
      if (run.config == "medium222") return one.at("trace") == "medium_test.trace";
      return one.at("trace") == "generated" && one.at("num_total_jobs") == "100" &&
             (one.at("multi_gpu") == "1") == (run.config == "static100multi");
    });
    ASSERT_NE(row, rows.end());
    const auto summary = measure_run(gavel_run(run.config, run.policy, "ecos"), nullptr);
    ASSERT_TRUE(summary && *summary);
    const bool makespan = run.policy.starts_with("min_total_duration");
    const double ours = makespan ? (*summary)->metrics.makespan_s : (*summary)->metrics.avg_jct_s;
    const double theirs = *parse_real(row->at(makespan ? "makespan_s" : "avg_jct_s"));
    EXPECT_NEAR(ours, theirs, run.equal ? 0.001 : 0.015 * theirs);
  }
}

}  // namespace
}  // namespace muster
